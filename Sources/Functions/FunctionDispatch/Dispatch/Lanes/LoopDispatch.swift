import EventLoop
import FunctionWorker
import Synchronization

/// The dispatcher's part on a further loop of the host: runs the invocations that this loop has accepted and that find a worker with room.
/// Belongs to that loop.
///
/// Waiting invocations, and all decisions about workers, are left to the ``Dispatcher``.
final class LoopDispatch {
    let loop: EventLoop
    /// The index of the loop in the host, from 1.
    let number: Int
    let functionLog: FunctionLog
    let memory: MemoryBudget
    /// The dispatcher, on its own loop.
    let home: HomeReference<Dispatcher>
    private let life: LifeSignal
    private(set) lazy var deadlines = DeadlineWatch(loop: loop) { [unowned self] in expire(now: $0) }
    /// The pools that have workers.
    private var pools: [ObjectIdentifier: PoolLane] = [:]

    init(loop: EventLoop, number: Int, dispatcher: Dispatcher) {
        self.loop = loop
        self.number = number
        functionLog = dispatcher.functionLog
        memory = dispatcher.memory
        life = dispatcher.life
        home = HomeReference(dispatcher, loop: dispatcher.loop)
    }

    /// Called when a pool has got its first worker or lost its last one.
    func pool(_ pool: PoolLane, hasWorkers: Bool) { pools[ObjectIdentifier(pool)] = hasWorkers ? pool : nil }

    private func expire(now: UInt64) -> UInt64 {
        // Iterates over a copy: a failed call can be followed by the next one, which can add a pool.
        Array(pools.values).reduce(.max) { min($0, $1.expire(now: now)) }
    }

    /// Starts checks of workers' event loops, because a worker was given something to do.
    @inline(__always)
    func watchLife() {
        if !life.isWatching { home.post { $0.watchLife() } }
    }
}

/// A weak reference from other loops to an object of the dispatcher's loop.
struct HomeReference<Value: AnyObject>: Sendable {
    private final class Holder {
        weak var value: Value?

        init(_ value: Value) { self.value = value }
    }

    private let holder: LoopBound<Holder>
    private let loop: EventLoop

    init(_ value: Value, loop: EventLoop) {
        holder = LoopBound(Holder(value), loop: loop)
        self.loop = loop
    }

    /// Runs `work` on the dispatcher's loop if the object still exists.
    func post(_ work: @escaping @Sendable (Value) -> Void) {
        loop.post { [holder] in
            if let value = holder.value.value { work(value) }
        }
    }
}

/// Whether workers that have something to do are being checked. Readable on every loop.
final class LifeSignal: Sendable {
    private let flag = Atomic(false)

    var isWatching: Bool { flag.load(ordering: .sequentiallyConsistent) }

    func set(_ isWatching: Bool) { flag.store(isWatching, ordering: .sequentiallyConsistent) }
}
