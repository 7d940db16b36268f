import Synchronization

/// The piece of work that a loop runs now. In shared memory, another process sees where a loop hangs.
///
/// The loop's thread writes with plain stores; any thread or process may read.
public struct LoopProgress: ~Copyable {
    /// The tag of the work that runs now; 0 where it has none, or nothing runs.
    public let tag = Atomic<UInt64>(0)
    /// How often tagged work was begun. While this and ``depth`` stay the same and ``depth`` is not 0, one piece of work has not returned.
    public let entries = Atomic<UInt64>(0)
    /// How many pieces of work run within each other; 0 while the loop waits or does work of its own.
    public let depth = Atomic<UInt64>(0)

    /// Nothing runs.
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
