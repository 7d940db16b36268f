import Synchronization

/// The work that a loop runs at this moment. In shared memory it shows another process where a loop hangs.
///
/// The loop's thread writes with plain stores; any thread or process may read.
public struct LoopProgress: ~Copyable {
    /// The tag of the current work; 0 if it has none or nothing runs.
    public let tag = Atomic<UInt64>(0)
    /// Number of tagged pieces of work that were started. While this and ``depth`` do not change and ``depth`` is not 0, one piece of work
    /// has not returned.
    public let entries = Atomic<UInt64>(0)
    /// Nesting depth of the current work; 0 while the loop waits or does internal work.
    public let depth = Atomic<UInt64>(0)

    /// Progress of a loop that runs nothing.
    public init() {}

    @inline(__always)
    func enter(_ tag: UInt64) {
        entries.store(entries.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        self.tag.store(tag, ordering: .relaxed)
        depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    @inline(__always)
    func leave(to outer: UInt64) {
        tag.store(outer, ordering: .relaxed)
        depth.store(depth.load(ordering: .relaxed) &- 1, ordering: .relaxed)
    }
}
