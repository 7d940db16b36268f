import Accounts
import DatabaseAPI
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionServices
import HTTP
import Logs
import Messaging
import Metrics
import RealtimeDatabase
import Schedules
import TaskQueues
import Telemetry

/// The figures of a loop.
struct LoopFigures: Sendable {
    var server = HTTPServerFigures()
    var http2 = HTTP2Figures()
    var live = LiveFigures()
    var connectionsOpen = 0
    /// The time that a message waited for the loop.
    var lagNanoseconds: UInt64 = 0
}

/// A loop with figures.
protocol LoopFigureSource: AnyObject, Sendable {
    /// Calls `tell` with the figures, on the loop's thread.
    func tellFigures(_ tell: @escaping @Sendable (LoopFigures) -> Void)
}

/// Collects the figures of all threads on request. Belongs to the home loop.
///
/// For a thread that does not answer in time, because of its disk or its work, the last known figures are used.
final class MetricsGatherer {
    let dispatcher: Dispatcher
    let delivery: TriggerDelivery
    let output: LogOutput
    let memory: MemoryBudget
    let userEvents: UserEventFigures
    let schedules: ScheduleEngine
    /// The figures of the export to a collector. Set after both were made.
    var telemetryFigures: () -> TelemetryFigures = { TelemetryFigures() }
    let cache: CacheCalls
    let tasks: TaskEngine
    private let loop: EventLoop
    private let database: RealtimeDatabase
    private let messagingService: MessagingService
    private var shards: [any LoopFigureSource] = []

    private(set) var loops: [LoopFigures] = []
    private(set) var process = ProcessFigures()
    private(set) var usage = InstanceUsage()
    /// The figures of open databases, by the id of their opening.
    private(set) var writers: [UInt64: WriterFigures] = [:]
    private(set) var readers: [UInt64: ReaderFigures] = [:]
    /// The sum of the figures of closed databases.
    private(set) var closedDatabases = TotalFigures()
    private(set) var messaging = MessagingFigures()
    /// The number of parts of the last report that were not updated.
    private(set) var missingCount = 0

    private var databases: Set<UInt64> = []
    private var waiting: [(MetricSet) -> Void] = []
    private var round = 0
    private lazy var timer = Timer(loop: loop) { [unowned self] in finish() }

    /// The longest time to wait for figures.
    private static let patienceMilliseconds: UInt64 = 1000

    init(
        loop: EventLoop, dispatcher: Dispatcher, delivery: TriggerDelivery, database: RealtimeDatabase, messaging: MessagingService,
        output: LogOutput, memory: MemoryBudget, userEvents: UserEventFigures, schedules: ScheduleEngine, tasks: TaskEngine,
        cache: CacheCalls
    ) {
        self.cache = cache
        self.schedules = schedules
        self.tasks = tasks
        self.userEvents = userEvents
        self.memory = memory
        self.loop = loop
        self.dispatcher = dispatcher
        self.delivery = delivery
        self.database = database
        messagingService = messaging
        self.output = output
    }

    /// Sets the loops, after they were created.
    func use(_ shards: [any LoopFigureSource]) {
        self.shards = shards
        loops = Array(repeating: LoopFigures(), count: shards.count)
    }

    /// Collects no more figures.
    func stop() {
        timer.close()
        shards = []
    }

    /// Collects all figures. Requests that arrive meanwhile get the same report.
    func gather(completion: @escaping (MetricSet) -> Void) {
        waiting.append(completion)
        guard waiting.count == 1 else { return }
        round += 1
        let asked = database.askForFigures(on: loop) { [self, round] id, part in
            // Late figures are used for the next report, unless the database was closed: then they are in the sum.
            guard databases.contains(id) else { return }
            switch part {
            case .writer(let figures): writers[id] = figures
            case .reader(let figures): readers[id] = figures
            }
            didReceive(round)
        }
        databases = asked.ids
        closedDatabases = asked.past
        writers = writers.filter { databases.contains($0.key) }
        readers = readers.filter { databases.contains($0.key) }
        messagingService.askForFigures(on: loop) { [self, round] figures in
            messaging = figures
            didReceive(round)
        }
        missingCount = databases.count * 2 + shards.count + 2
        askLoops(round)
        timer.start(afterMilliseconds: Self.patienceMilliseconds)
    }

    /// Asks the loops from another thread, so that the delay of each loop is measured.
    private func askLoops(_ round: Int) {
        let reference = LoopBound(self, loop: loop)
        var workers: [Int32: InstanceUsage.ArtifactName] = [:]
        let pools = dispatcher.poolFigures
        for pool in pools { for pid in pool.processes { workers[pid] = .init(plugin: pool.plugin, artifact: pool.artifact) } }
        loop.offload { [loop, shards, pids = Array(workers.keys)] in
            for (index, shard) in shards.enumerated() {
                shard.tellFigures { figures in
                    loop.post { reference.value.didReceive(figures, of: index, round) }
                }
            }
            return (ProcessFigures.read(), InstanceUsage.read(pids))
        } then: { [self] in
            process = $0.0
            usage.add($0.1, of: workers, artifacts: Set(pools.map { .init(plugin: $0.plugin, artifact: $0.artifact) }))
            didReceive(round)
        }
    }

    private func didReceive(_ figures: LoopFigures, of index: Int, _ round: Int) {
        loops[index] = figures
        didReceive(round)
    }

    private func didReceive(_ round: Int) {
        // Late figures are used for the next report.
        guard round == self.round, !waiting.isEmpty else { return }
        missingCount -= 1
        if missingCount == 0 { finish() }
    }

    private func finish() {
        timer.stop()
        let set = MetricsReport(self).makeSet()
        let completions = waiting
        waiting = []
        for completion in completions { completion(set) }
    }
}
