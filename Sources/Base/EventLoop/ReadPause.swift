import CLinux
import Synchronization

/// Keeps slow reads of files off loops. After one has waited for the disk, or has taken long, there are none for a hundred times as long, so that
/// loops lose at most a hundredth of their time. One for all loops.
public final class ReadPause: Sendable {
    private let end = Atomic<UInt64>(0)

    /// The time from which on a read that has read from a disk is slow.
    private static let diskNanoseconds: UInt64 = 100_000
    /// The time from which on any read is slow.
    public static let workNanoseconds: UInt64 = 1_000_000
    private static let times: UInt64 = 100

    /// No pause.
    public init() {}

    /// Whether reads may take place on loops.
    ///
    /// - Parameter now: ``EventLoop/monotonicNanoseconds()``.
    public func isOver(at now: UInt64) -> Bool { now >= end.load(ordering: .relaxed) }

    /// Notes a read on a loop, and begins a pause if it was slow. Time in which the thread may not have run does not count, unless it
    /// has read from a disk.
    ///
    /// - Parameter usage: that of the thread, at some time before the read.
    public func note(from start: UInt64, to end: UInt64, since usage: ThreadUsage) {
        let nanoseconds = end - start
        guard nanoseconds >= Self.diskNanoseconds else { return }
        let now = ThreadUsage.current
        guard now.diskReads != usage.diskReads || (nanoseconds >= Self.workNanoseconds && now.switches == usage.switches) else { return }
        begin(at: end, after: nanoseconds)
    }

    /// Begins a pause, because a read has taken so many nanoseconds. A longer one that has begun already goes on.
    public func begin(at now: UInt64, after nanoseconds: UInt64) {
        end.max(now + nanoseconds * Self.times, ordering: .relaxed)
    }
}

/// The kernel's counts of a thread.
public struct ThreadUsage: Sendable {
    /// Blocks that were read from disks for the thread, and pages for which it has waited.
    public var diskReads: Int
    /// The number of times that the thread waited or was interrupted for another one.
    public var switches: Int

    /// The counts of the calling thread.
    public static var current: ThreadUsage {
        let usage = linux_thread_usage_now()
        return ThreadUsage(diskReads: usage.disk_reads, switches: usage.switches)
    }
}
