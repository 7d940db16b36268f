import EventLoop
import Synchronization
import Tree

/// The result of a query for its listeners, kept up to date with the changes of its node. Equal queries share a view. Used on the thread of its feed.
///
/// A change that the window cannot follow makes the view read its rows again, at whatever commit is the newest then. The changes up to that commit
/// are in what was read; the others are applied to it. Rows that are newer than what the feed has passed on are taken over when it has passed on
/// their commit. Meanwhile the listeners know that news are due.
final class QueryView {
    /// Reads the children that a query selects, and the number of the newest commit in them; nil if that fails. The completion is called on the loop.
    typealias Read = @Sendable (
        _ query: Query, _ bytesMax: Int, _ loop: EventLoop, _ completion: @escaping ((node: Node, commit: UInt64)?) -> Void
    ) -> Void

    let id: UInt64
    let path: Path
    private let query: Query
    private let loop: EventLoop
    private let memory: ViewMemory
    private let progress: FeedProgress
    private let read: Read
    private var listeners: [ChangeFeed.Listener] = []
    private var window: QueryWindow
    private var heldBytes = 0
    private var state = State.unkept(until: .max)
    /// The changes that have to be applied when the rows have been read.
    private var pending: [TreeChange] = []
    private var pendingBytes = 0
    /// The first and the last commit of the changes that were discarded, because the rows being read must contain them.
    private var dropped: (first: UInt64, last: UInt64)?
    /// Whether the window has had rows, so that listeners know its result.
    private var wasFilled = false
    /// Whether all listeners know that news are due.
    private var isDueTold = false
    private var isOver = false

    private enum State {
        case reading
        /// The rows are newer than what the feed has passed on.
        case ahead(rows: Node, commit: UInt64)
        case live
        /// Nobody has read the result yet, it is too large to be kept, or it could not be read. Listeners read it after each change, until the
        /// view tries again.
        case unkept(until: UInt64)
    }

    /// The most bytes of changes that wait until the rows have been read. Beyond it, the rows are read again afterwards.
    private static let pendingBytesMax = 1024 * 1024
    private static let retryMilliseconds: UInt64 = 10_000

    init(_ id: UInt64, _ path: Path, _ query: Query, loop: EventLoop, memory: ViewMemory, progress: FeedProgress, read: @escaping Read) {
        self.id = id
        self.path = path
        self.query = query
        self.loop = loop
        self.memory = memory
        self.progress = progress
        self.read = read
        window = QueryWindow(query)
    }

    // MARK: Listeners

    var isEmpty: Bool { listeners.isEmpty }

    func add(_ listener: ChangeFeed.Listener) {
        listeners.append(listener)
        isDueTold = false
    }

    func remove(_ id: UInt64) { listeners.removeAll { $0.id == id } }

    func forEach(_ body: (ChangeFeed.Listener) -> Void) { for listener in listeners { body(listener) } }

    /// Releases everything. The view is not used afterwards.
    func end() {
        isOver = true
        hold(0)
    }

    /// Begins to follow the query, because a listener may read its result. Others must not make the view read. ``ListenerNews/settled`` is sent as
    /// soon as changes are reported, or it is known that they cannot be.
    func follow(_ news: inout NewsBatch) {
        switch state {
        case .unkept(until: .max):
            isDueTold = true
            begin()
        case .reading, .ahead: isDueTold = true
        case .live, .unkept: tell(.settled, &news)
        }
    }

    // MARK: Changes

    private func begin() {
        state = .reading
        read(window.filling, memory.viewBytesMax, loop) { [weak self] found in self?.didRead(found) }
    }

    /// Applies a change, and informs the listeners.
    func hear(_ change: TreeChange, _ news: inout NewsBatch) {
        let writes = change.writes(below: path)
        guard !writes.isEmpty else { return }
        switch state {
        case .reading, .ahead: wait(change, &news)
        case .live:
            if let members = window.apply(writes) {
                tell(members, change.commit, &news)
                keep(&news)
            } else {
                wait(change, &news)
                begin()
            }
        case .unkept(let until):
            tell(.outdated(change.commit), &news)
            guard loop.nowMilliseconds >= until else { return }
            drop(change)
            begin()
        }
    }

    private func wait(_ change: TreeChange, _ news: inout NewsBatch) {
        if !isDueTold { tell(.due(change.commit), &news) }
        isDueTold = true
        pending.append(change)
        pendingBytes += change.heldBytes
        guard pendingBytes > Self.pendingBytesMax else { return }
        // The rows that are being read may be older than these changes, so they are read once more.
        dropPending()
    }

    private func dropPending() {
        for change in pending { drop(change) }
        pending = []
        pendingBytes = 0
    }

    private func drop(_ change: TreeChange) {
        dropped = (min(dropped?.first ?? .max, change.commit), max(dropped?.last ?? 0, change.commit))
    }

    // MARK: Reading

    private func didRead(_ found: (node: Node, commit: UInt64)?) {
        guard case .reading = state, !isOver else { return }
        var news = NewsBatch()
        if let (node, commit) = found {
            // Changes whose values were not kept must be in the rows.
            if let dropped, dropped.last > commit { return begin() }
            guard commit <= progress.commit else {
                state = .ahead(rows: node, commit: commit)
                return progress.await(commit, self)
            }
            fill(node, commit, &news)
        } else {
            giveUp(&news)
        }
        news.send()
    }

    /// Takes over rows that were newer than what the feed had passed on.
    func catchUp(_ news: inout NewsBatch) {
        guard case .ahead(let node, let commit) = state, !isOver else { return }
        if let dropped, dropped.last > commit { return begin() }
        fill(node, commit, &news)
    }

    private func fill(_ node: Node, _ commit: UInt64, _ news: inout NewsBatch) {
        let later = pending.filter { $0.commit > commit }
        pending.removeAll { $0.commit > commit }
        dropPending()
        state = .live
        let members = window.fill(node)
        if let dropped {
            // Listeners that have read a state between these changes may lack some of them.
            if wasFilled {
                tell(.changed(TreeChange(path: path, kind: .patch(members), commit: dropped.last, since: dropped.first - 1)), &news)
            } else {
                tell(.outdated(dropped.last), &news)
            }
        }
        dropped = nil
        wasFilled = true
        keep(&news)
        for change in later { hear(change, &news) }
        settle(&news)
    }

    /// Tells the listeners that nothing is due, unless the view is reading again.
    private func settle(_ news: inout NewsBatch) {
        switch state {
        case .reading, .ahead: return
        case .live, .unkept: break
        }
        if isDueTold { tell(.settled, &news) }
        isDueTold = false
    }

    /// Counts the memory of the rows. Stops keeping them if there is none for them.
    private func keep(_ news: inout NewsBatch) {
        guard case .live = state, !hold(window.heldBytes) else { return }
        giveUp(&news)
    }

    @discardableResult
    private func hold(_ bytes: Int) -> Bool {
        guard memory.change(from: heldBytes, to: bytes) else { return false }
        heldBytes = bytes
        return true
    }

    /// Makes the listeners read the result themselves, until there may be room for it.
    private func giveUp(_ news: inout NewsBatch) {
        dropPending()
        window = QueryWindow(query)
        wasFilled = false
        hold(0)
        state = .unkept(until: loop.nowMilliseconds + Self.retryMilliseconds)
        if let dropped { tell(.outdated(dropped.last), &news) }
        dropped = nil
        settle(&news)
    }

    // MARK: News

    private func tell(_ members: [QueryWindow.Member], _ commit: UInt64, _ news: inout NewsBatch) {
        guard !members.isEmpty else { return }
        tell(.changed(TreeChange(path: path, kind: .patch(members), commit: commit)), &news)
    }

    private func tell(_ item: ListenerNews, _ news: inout NewsBatch) {
        for listener in listeners { news.tell(listener, item) }
    }
}

/// Counts the memory of all views, and limits it. Can be used from any thread.
final class ViewMemory: Sendable {
    private let used = Atomic(0)
    private let bytesMax: Int

    /// The most bytes of one view, as a part of the limit.
    private static let shareOfView = 4

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Changes the memory of a view. Returns false, and changes nothing, if there is no room.
    func change(from old: Int, to new: Int) -> Bool {
        guard new > old else {
            used.subtract(old - new, ordering: .relaxed)
            return true
        }
        guard new <= bytesMax / Self.shareOfView else { return false }
        guard used.add(new - old, ordering: .relaxed).newValue <= bytesMax else {
            used.subtract(new - old, ordering: .relaxed)
            return false
        }
        return true
    }

    /// The most bytes of the rows of a view.
    var viewBytesMax: Int { bytesMax / Self.shareOfView }
}

extension TreeChange {
    /// The new nodes from a place on; the root for a change at or above it.
    fileprivate func writes(below place: Path) -> [QueryWindow.Member] {
        switch kind {
        case .put(let node): return write(path, node, below: place).map { [$0] } ?? []
        case .patch(let members):
            var writes: [QueryWindow.Member] = []
            for member in members {
                if let write = write(path.appending(member.path), member.node, below: place) { writes.append(write) }
            }
            // A deletion comes last, so that no ancestor is empty for a moment, in which it would lose its priority.
            return writes.filter { !$0.node.isEmpty } + writes.filter(\.node.isEmpty)
        }
    }

    private func write(_ written: Path, _ node: Node, below place: Path) -> QueryWindow.Member? {
        if let above = place.relative(to: written) { return (.root, node.at(above)) }
        return written.relative(to: place).map { ($0, node) }
    }

    /// The memory of the change, by estimate.
    fileprivate var heldBytes: Int {
        switch kind {
        case .put(let node): 200 + node.heldBytes
        case .patch(let members): members.reduce(200) { $0 + 200 + $1.node.heldBytes }
        }
    }
}
