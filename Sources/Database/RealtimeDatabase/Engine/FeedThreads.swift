import EventLoop
import Synchronization

/// The threads that inform listeners of changes. Namespaces with listeners share them; the feed of each namespace stays on one.
final class FeedThreads: Sendable {
    /// The feed of a namespace, for its writer.
    struct Feed: Sendable {
        fileprivate let thread: NamespaceThread
        fileprivate let feed: LoopBound<ChangeFeed>

        /// Calls `body` on the feed's thread, in the order of the calls.
        func post(_ body: @escaping @Sendable (ChangeFeed) -> Void) {
            thread.post { [feed] in body(feed.value) }
        }
    }

    private struct State {
        var threads: [NamespaceThread] = []
        var nextThread = 0
    }

    private let state = Mutex(State())
    private let memory: ViewMemory

    /// - Parameter viewBytesMax: the memory for results of queries that are followed.
    init(viewBytesMax: Int) { memory = ViewMemory(bytesMax: viewBytesMax) }

    /// A feed for another namespace. Starts a thread if there are fewer than processors.
    func feed() throws(LoopError) -> Feed {
        let thread = try state.withLock { state throws(LoopError) -> NamespaceThread in
            if state.threads.count < Processors.available {
                do throws(LoopError) {
                    let thread = try NamespaceThread()
                    state.threads.append(thread)
                    return thread
                } catch {
                    if state.threads.isEmpty { throw error }
                }
            }
            state.nextThread = (state.nextThread + 1) % state.threads.count
            return state.threads[state.nextThread]
        }
        return Feed(thread: thread, feed: LoopBound(ChangeFeed(loop: thread.loop, memory: memory), loop: thread.loop))
    }

    /// Ends the threads, after all namespaces.
    func end() {
        for thread in state.withLock({ $0.threads }) { thread.end() }
    }
}
