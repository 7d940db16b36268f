import CLinux
import EventLoop
import Glibc
import Synchronization
import WorkerProtocol

/// Memory that a worker shares with its host: what the worker runs now and how far it has read, to be seen even while it hangs and after
/// it has died.
///
/// The worker can write anything into it, so the host believes nothing of it that could harm anybody but this worker.
public final class WorkerPage: @unchecked Sendable {
    // Unchecked: the memory is reached through atomics; `descriptor` is used by one thread at a time, before the worker runs.

    private struct Layout: ~Copyable {
        var progress: LoopProgress
        /// Frames that the worker has received, doubled; and 1 while it must not begin calls.
        let gate: Atomic<UInt64>
    }

    private static let crashOffset = 128
    private static let size = 8192
    private let memory: UnsafeMutableRawPointer
    private var layout: UnsafeMutablePointer<Layout> { memory.assumingMemoryBound(to: Layout.self) }

    /// The descriptor that the worker maps; -1 once it is closed.
    public private(set) var descriptor: Int32

    /// A page for a worker that is to be started.
    ///
    /// - Throws: `LoopError` where the system has no descriptor or no memory left.
    public init() throws(LoopError) {
        let descriptor = linux_shared_memory(Self.size)
        guard descriptor >= 0 else { throw LoopError(code: descriptor, operation: "shared memory") }
        guard let memory = linux_map_shared(descriptor, Self.size) else {
            let error = LoopError(code: -errno, operation: "map shared memory")
            close(descriptor)
            throw error
        }
        self.memory = memory
        self.descriptor = descriptor
    }

    /// The page that this worker process was given.
    init(inherited descriptor: Int32) throws(LoopError) {
        guard let memory = linux_map_shared(descriptor, Self.size) else {
            throw LoopError(code: -errno, operation: "map shared memory")
        }
        self.memory = memory
        self.descriptor = -1
        close(descriptor)
    }

    deinit {
        closeDescriptor()
        munmap(memory, Self.size)
    }

    /// Lets go of the descriptor once the worker has its own; the memory stays.
    public func closeDescriptor() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    // MARK: The worker

    /// The progress of the worker's loop.
    var progress: UnsafeMutablePointer<LoopProgress> { memory.assumingMemoryBound(to: LoopProgress.self) }

    /// Counts a frame that was received.
    ///
    /// - Returns: whether a call in it must not begin, because the host has taken it back.
    @inline(__always)
    func countFrame() -> Bool { layout.pointee.gate.add(2, ordering: .acquiringAndReleasing).oldValue & 1 == 1 }

    /// Calls may begin again.
    func reopen() { layout.pointee.gate.bitwiseAnd(~1, ordering: .acquiringAndReleasing) }

    /// Has a fault of this process written down here, which the host tells in the log.
    func recordCrashes() { _ = linux_record_crashes((memory + Self.crashOffset).assumingMemoryBound(to: linux_crash.self)) }

    // MARK: The host

    /// The fault that ended the worker, if one did; to be asked once it has ended.
    public var crash: CrashReport? {
        CrashReport(UnsafeRawBufferPointer(start: memory + Self.crashOffset, count: MemoryLayout<linux_crash>.size))
    }

    /// State of a worker at one moment.
    public struct Sight: Equatable, Sendable {
        /// How often it has called its plugin.
        public var entries: UInt64
        /// How many frames it has received.
        public var framesReceived: UInt64
        /// Whether it runs the plugin's code.
        public var isInPlugin: Bool
        /// The invocation that this code runs for; 0 where it is of none.
        public var invocation: InvocationID

        /// A sight for a watch to judge.
        public init(entries: UInt64, framesReceived: UInt64, isInPlugin: Bool, invocation: InvocationID) {
            self.entries = entries
            self.framesReceived = framesReceived
            self.isInPlugin = isInPlugin
            self.invocation = invocation
        }
    }

    /// The current state.
    public var sight: Sight {
        let progress = progress
        return Sight(
            entries: progress.pointee.entries.load(ordering: .relaxed), framesReceived: framesReceived,
            isInPlugin: progress.pointee.depth.load(ordering: .relaxed) != 0,
            invocation: InvocationID(rawValue: progress.pointee.tag.load(ordering: .relaxed)))
    }

    /// How many frames the worker has received.
    public var framesReceived: UInt64 { layout.pointee.gate.load(ordering: .relaxed) >> 1 }

    /// Keeps the worker from beginning any call that it has not received, until it is told to go on by a frame.
    ///
    /// - Returns: how many frames it had received before. Calls in later frames never begin.
    public func holdCalls() -> UInt64 { layout.pointee.gate.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue >> 1 }
}
