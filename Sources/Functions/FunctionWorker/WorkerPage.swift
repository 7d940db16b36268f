import CLinux
import EventLoop
import Glibc
import Synchronization
import WorkerProtocol

/// Memory that a worker shares with its host: the current invocation and the number of frames read on each lane, visible even while the
/// worker hangs and after it has died.
///
/// The worker can write anything into it, so the host uses it only for decisions that affect this worker.
public final class WorkerPage: @unchecked Sendable {
    // Unchecked: the memory is accessed through atomics; `descriptor` is used by one thread at a time, before the worker runs.

    /// Twice the number of frames received on a lane, plus 1 while calls of the lane must not start.
    private struct Gate: ~Copyable {
        let frames: Atomic<UInt64>
    }

    /// The most lanes that a worker can have.
    public static let lanesMax = 64
    private static let crashOffset = 128
    private static let gatesOffset = 8192
    /// Each gate has a cache line of its own: the host's loops read them while the worker counts.
    private static let gateStride = 64
    private static let size = gatesOffset + lanesMax * gateStride
    private let memory: UnsafeMutableRawPointer

    private func gate(_ lane: Int) -> UnsafeMutablePointer<Gate> {
        precondition(lane >= 0 && lane < Self.lanesMax)
        return (memory + Self.gatesOffset + lane * Self.gateStride).assumingMemoryBound(to: Gate.self)
    }

    /// The descriptor for the worker to map; -1 once it is closed.
    public private(set) var descriptor: Int32

    /// Creates a page for a new worker.
    ///
    /// - Throws: `LoopError` if the system has no descriptor or memory left.
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

    /// The page of this worker process.
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

    /// Closes the descriptor once the worker has its own; the memory stays mapped.
    public func closeDescriptor() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    // MARK: Worker side

    /// The progress of the worker's loop.
    var progress: UnsafeMutablePointer<LoopProgress> { memory.assumingMemoryBound(to: LoopProgress.self) }

    /// Counts a frame that was received on a lane.
    ///
    /// - Returns: whether a call in it must not start, because the host has taken it back.
    @inline(__always)
    func countFrame(_ lane: Int) -> Bool { gate(lane).pointee.frames.add(2, ordering: .acquiringAndReleasing).oldValue & 1 == 1 }

    /// Allows calls of a lane to start again.
    func reopen(_ lane: Int) { gate(lane).pointee.frames.bitwiseAnd(~1, ordering: .acquiringAndReleasing) }

    /// Records a fault of this process on the page; the host logs it.
    func recordCrashes() { _ = linux_record_crashes((memory + Self.crashOffset).assumingMemoryBound(to: linux_crash.self)) }

    // MARK: Host side

    /// The fault that ended the worker, if any. Read it after the worker has ended.
    public var crash: CrashReport? {
        CrashReport(UnsafeRawBufferPointer(start: memory + Self.crashOffset, count: MemoryLayout<linux_crash>.size))
    }

    /// State of a worker at one moment.
    public struct Sight: Equatable, Sendable {
        /// Number of calls into the plugin.
        public var entries: UInt64
        /// Number of frames received on all lanes.
        public var framesReceived: UInt64
        /// Whether plugin code is running.
        public var isInPlugin: Bool
        /// The invocation of the running code; 0 for none.
        public var invocation: InvocationID

        /// A state, for tests of the watch.
        public init(entries: UInt64, framesReceived: UInt64, isInPlugin: Bool, invocation: InvocationID) {
            self.entries = entries
            self.framesReceived = framesReceived
            self.isInPlugin = isInPlugin
            self.invocation = invocation
        }
    }

    /// The current state of a worker with `lanes` lanes.
    public func sight(lanes: Int) -> Sight {
        let progress = progress
        return Sight(
            entries: progress.pointee.entries.load(ordering: .relaxed),
            framesReceived: (0..<lanes).reduce(0) { $0 &+ framesReceived($1) },
            isInPlugin: progress.pointee.depth.load(ordering: .relaxed) != 0,
            invocation: InvocationID(rawValue: progress.pointee.tag.load(ordering: .relaxed)))
    }

    /// The number of frames that the worker has received on a lane.
    public func framesReceived(_ lane: Int) -> UInt64 { gate(lane).pointee.frames.load(ordering: .relaxed) >> 1 }

    /// Stops the worker from starting calls in frames of a lane that it has not received yet, until a `resume` frame on that lane.
    ///
    /// - Returns: the number of frames received before. Calls in later frames do not start.
    public func holdCalls(_ lane: Int) -> UInt64 { gate(lane).pointee.frames.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue >> 1 }
}
