/// The newest commit that a feed has passed on, and the views that have read a newer one. Used on the thread of the feed.
///
/// A reader can see a commit before the feed has its batch. A view that took over such rows would apply the changes of that commit once more, and
/// show states that never existed; and it would show what a watch of the same batch is about to forbid.
final class FeedProgress {
    private(set) var commit: UInt64 = 0
    private var waiting: [(view: QueryView, commit: UInt64)] = []

    /// Makes a view wait until the batch of a commit has been passed on to it.
    func await(_ commit: UInt64, _ view: QueryView) { waiting.append((view, commit)) }

    /// Notes that all commits up to this one have been passed on. Returns the views that waited for one of them.
    func reach(_ commit: UInt64) -> [QueryView] {
        self.commit = max(self.commit, commit)
        guard !waiting.isEmpty else { return [] }
        let ready = waiting.filter { $0.commit <= self.commit }.map(\.view)
        waiting.removeAll { $0.commit <= self.commit }
        return ready
    }
}
