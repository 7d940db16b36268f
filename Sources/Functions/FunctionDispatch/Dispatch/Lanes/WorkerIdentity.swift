import EventLoop
import HTTP
import Logs
import Synchronization
import WorkerProtocol

/// The part of a worker that all loops of the host share: its identity, its room, and the records of its lanes.
final class WorkerIdentity: Sendable {
    /// The library that it runs.
    let artifact: Artifact
    /// The process id; the host's own if isolation is off.
    let pid: Int32
    /// A random number that makes the names of its invocations differ from those of other workers.
    private let seed: UInt64
    let room: WorkerRoom
    /// A record for each lane.
    let records: [LaneRecord]

    /// - Parameter concurrency: the most invocations that run at the same time.
    init(artifact: Artifact, pid: Int32, seed: UInt64, concurrency: Int, records: [LaneRecord]) {
        self.artifact = artifact
        self.pid = pid
        self.seed = seed
        self.records = records
        room = WorkerRoom(size: concurrency)
    }

    /// The number of lanes.
    var laneCount: Int { records.count }

    /// The number of frames sent to it, including those that are still buffered.
    var framesSent: UInt64 { records.reduce(0) { $0 &+ $1.framesSent } }

    /// The name of an invocation in logs.
    func name(of id: InvocationID) -> InvocationName { InvocationName(workerSeed: seed, invocation: id) }

    /// The record of an invocation, also for a short time after its answer.
    func recent(_ id: InvocationID) -> RecentInvocations.Entry? {
        guard id.rawValue != 0 else { return nil }
        return records[id.lane(of: laneCount)].recent(id)
    }

    /// The invocation in the worker, if there is exactly one.
    var onlyInvocation: InvocationID? {
        guard room.count == 1 else { return nil }
        let id = InvocationID(rawValue: records.reduce(0) { $0 &+ $1.openSum })
        return recent(id).map(\.id)
    }

    /// The origin of log lines of an invocation, also for a short time after its answer.
    ///
    /// - Parameter function: the name of its function; nil if unknown.
    func origin(of id: InvocationID, function: String?) -> LogOrigin {
        var origin = LogOrigin(artifact: artifact.version, plugin: artifact.name, pid: pid)
        origin.function = function
        guard id.rawValue != 0 else { return origin }
        origin.invocation = name(of: id).description
        guard let recent = recent(id) else { return origin }
        origin.version = recent.version
        origin.trace = recent.trace?.id
        return origin
    }
}

/// Facts about a lane that its loop records for other loops. The dispatcher's loop handles the log lines, signs of life and ends of workers
/// for all lanes.
final class LaneRecord: Sendable {
    private let sent = Atomic<UInt64>(0)
    private let sum = Atomic<UInt64>(0)
    private let invocations = Mutex(RecentInvocations())

    /// The number of frames sent on the lane, including those that are still buffered.
    var framesSent: UInt64 { sent.load(ordering: .relaxed) }

    /// Counts a frame.
    ///
    /// - Returns: its number.
    @inline(__always)
    func countFrame() -> UInt64 { sent.add(1, ordering: .relaxed).newValue }

    /// The sum of the ids of the lane's invocations. While there is one, this is its id.
    var openSum: UInt64 { sum.load(ordering: .relaxed) }

    /// Records an invocation that starts.
    @inline(__always)
    func begin(_ entry: RecentInvocations.Entry) {
        sum.wrappingAdd(entry.id.rawValue, ordering: .relaxed)
        invocations.withLock { $0.append(entry) }
    }

    /// Records an invocation that was answered, or whose worker has ended.
    @inline(__always)
    func end(_ id: InvocationID) { sum.wrappingSubtract(id.rawValue, ordering: .relaxed) }

    /// The entry of invocation `id`, if it was not replaced yet.
    func recent(_ id: InvocationID) -> RecentInvocations.Entry? { invocations.withLock { $0.find(id) } }
}
