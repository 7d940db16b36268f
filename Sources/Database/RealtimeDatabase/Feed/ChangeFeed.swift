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

    private let loop: EventLoop
    private let memory: ViewMemory
    private var listeners = PathTree<Listener>()
    private var views = PathTree<QueryView>()
    private var viewsByQuery: [Place: QueryView] = [:]
    private var lastView: UInt64 = 0
    private var watches = WatchTable()
    private var recent = RecentChanges()
    private let progress = FeedProgress()
    private var news = NewsBatch()

    /// The place of listeners: a node, or the result of a query on its children.
    struct Place: Hashable, Sendable {
        var path: Path
        var query: Query?
    }

    init(loop: EventLoop, memory: ViewMemory) {
        self.loop = loop
        self.memory = memory
    }

    /// Adds a listener. It hears of all batches that are published from now on.
    ///
    /// - Parameters:
    ///   - commit: the newest commit, whose batch has been published if there were listeners.
    ///   - read: reads results of queries. It keeps the namespace open.
    func add(_ listener: Listener, at place: Place, since commit: UInt64, read: @escaping QueryView.Read) {
        reach(commit)
        guard let query = place.query else { return listeners.insert(listener, id: listener.id, at: place.path) }
        if let view = viewsByQuery[place] { return view.add(listener) }
        lastView += 1
        let view = QueryView(lastView, place.path, query, loop: loop, memory: memory, progress: progress, read: read)
        viewsByQuery[place] = view
        views.insert(view, id: view.id, at: place.path)
        view.add(listener)
    }

    func remove(_ id: UInt64, at place: Place) {
        guard place.query != nil else { return listeners.remove(id, at: place.path) }
        guard let view = viewsByQuery[place] else { return }
        view.remove(id)
        guard view.isEmpty else { return }
        view.end()
        viewsByQuery[place] = nil
        views.remove(view.id, at: place.path)
    }

    /// Keeps the result of a query from now on, because one of its listeners may read it.
    func follow(_ place: Place) {
        viewsByQuery[place]?.follow(&news)
        news.send()
    }

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
        if let rules = batch.rules {
            listeners.forEach { news.tell($0, .rulesChanged(rules)) }
            for view in viewsByQuery.values { view.forEach { news.tell($0, .rulesChanged(rules)) } }
        }
        for change in batch.changes {
            for watch in watches.take(touchedBy: change) { news.tell(watch, .changed) }
        }
        for change in batch.changes {
            listeners.forEach(touchedBy: change) { listener, _ in news.tell(listener, .changed(change)) }
            views.forEach(touchedBy: change) { view, _ in view.hear(change, &news) }
        }
        reach(batch.commit)
        guard var answers = answers.take() else { return }
        answers.deliver(failure: failure)
    }

    /// Notes that there is no batch up to this commit that has not been published.
    func reach(_ commit: UInt64) {
        for view in progress.reach(commit) { view.catchUp(&news) }
        news.send()
    }
}
