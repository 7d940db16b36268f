import CLinux
import Synchronization

/// Keeps reads of files on loops away from a slow disk. After one has waited for the disk, there are none for a hundred times as long, so that
/// a loop waits for at most a hundredth of its time. One for all loops.
public final class DiskPause: Sendable {
    private let end = Atomic<UInt64>(0)

    /// The time from which on a read may have waited for the disk.
    private static let suspiciousNanoseconds: UInt64 = 100_000
    private static let times: UInt64 = 100

    /// No pause.
    public init() {}

    /// Whether reads may take place on loops.
    ///
    /// - Parameter now: ``EventLoop/monotonicNanoseconds()``.
    public func isOver(at now: UInt64) -> Bool { now >= end.load(ordering: .relaxed) }

    /// Notes a read on a loop. Begins a pause if the read has waited for the disk; a thread that was only preempted has read nothing from it.
    ///
    /// - Parameter diskReads: ``diskReadsOfThread()`` at first, and after the last slow read on this loop.
    public func note(from start: UInt64, to end: UInt64, _ diskReads: inout Int) {
        guard end - start >= Self.suspiciousNanoseconds else { return }
        let reads = Self.diskReadsOfThread()
        guard reads != diskReads else { return }
        diskReads = reads
        begin(at: end, after: end - start)
    }

    /// Begins a pause, because a read has waited so many nanoseconds.
    public func begin(at now: UInt64, after nanoseconds: UInt64) {
        end.store(now + nanoseconds * Self.times, ordering: .relaxed)
    }

    /// The number of blocks that the kernel has read from disks for the calling thread.
    public static func diskReadsOfThread() -> Int { linux_disk_reads_of_thread() }
}
