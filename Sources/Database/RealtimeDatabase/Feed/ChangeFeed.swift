import EventLoop
import Store
import Tree

/// Passes the changes of a namespace to its listeners, in the order of the commits. Used on one thread only, which is not the writer's
/// (docs/decisions/change-feed.md).
///
/// The writer publishes a batch for each transaction, with the answers to its requests. The answers are sent after the news, so that a client
/// hears of its own write before the write is acknowledged.
final class ChangeFeed {
    /// A listener. Its handler is called on its loop.
    struct Listener: Sendable {
        var id: UInt64
        var loop: EventLoop
        var handler: LoopBound<(ListenerNews) -> Void>
    }

    private var listeners = PathTree<Listener>()
    private var watches = WatchTable()
    private var recent = RecentChanges()
    private var news = NewsBatch()

    /// Adds a listener. It hears of all batches that are published from now on.
    func add(_ listener: Listener, at path: Path) { listeners.insert(listener, id: listener.id, at: path) }

    func remove(_ id: UInt64, at path: Path) { listeners.remove(id, at: path) }

    /// Adds a watch, unless one of its places has changed since the state of `commit`.
    func add(_ watch: WatchTable.Watch, since commit: UInt64) {
        if recent.covers(commit), !recent.touch(watch.places, since: commit) {
            watches.insert(watch)
            news.tell(watch, .holds(upTo: max(commit, recent.last)))
        } else {
            news.tell(watch, .changed)
        }
        news.send()
    }

    func remove(watch id: UInt64) { watches.remove(id) }

    /// Informs the listeners of a transaction, and then sends its answers.
    func publish(_ batch: ChangeBatch, _ answers: Parcel<CommitBatch>, failure: StoreError?) {
        if failure == nil { recent.add(batch) }
        // Rules and watches come first, so that no change is shown that is no longer allowed.
        if let rules = batch.rules { listeners.forEach { news.tell($0, .rulesChanged(rules)) } }
        for change in batch.changes {
            for watch in watches.take(touchedBy: change) { news.tell(watch, .changed) }
        }
        for change in batch.changes {
            listeners.forEach(touchedBy: change) { listener, _ in news.tell(listener, .changed(change)) }
        }
        news.send()
        guard var answers = answers.take() else { return }
        answers.deliver(failure: failure)
    }
}
