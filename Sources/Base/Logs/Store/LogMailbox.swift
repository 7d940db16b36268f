import HearthBytes
import Synchronization

/// Lines on their way to one who follows the log. Bounded: what comes while it is full is counted instead.
package final class LogMailbox: Sendable {
    private struct State: ~Copyable {
        var lines = ByteBuffer()
        var dropped = 0
        var isSignalled = false
    }

    private let filter: LogFilter
    private let state = Mutex(State())
    private let signal: @Sendable () -> Void

    /// What may wait.
    static let bytesMax = 1 << 20

    /// - Parameter signal: called, on any thread, when there is something to take; not again before it is taken.
    package init(_ filter: LogFilter, signal: @escaping @Sendable () -> Void) {
        self.filter = filter
        self.signal = signal
    }

    /// Takes those of these lines that are wanted.
    func offer(_ bytes: Span<UInt8>) {
        let mustSignal = state.withLock { state in
            LogScan.forEachLine(bytes) { line in
                guard let id = LogScan.id(line), filter.matches(line, id: id) else { return }
                guard state.dropped == 0, state.lines.count + line.count < Self.bytesMax else { return state.dropped += 1 }
                state.lines.append(line)
                state.lines.append(UInt8(ascii: "\n"))
            }
            guard !state.isSignalled, !state.lines.isEmpty || state.dropped > 0 else { return false }
            state.isSignalled = true
            return true
        }
        if mustSignal { signal() }
    }

    /// Empties it: the lines, and how many came after them that did not fit.
    package func take() -> (lines: [UInt8], dropped: Int) {
        state.withLock { state in
            state.isSignalled = false
            let taken = (state.lines.array(), state.dropped)
            state.lines.clear(keepingAtMost: 64 * 1024)
            state.dropped = 0
            return taken
        }
    }
}
