import EventDelivery
import EventLoop
import FunctionDispatch
import HTTP
import Logs
import Messaging
import RealtimeDatabase

/// What one loop tells of itself.
struct LoopFigures: Sendable {
    var server = HTTPServerFigures()
    var connectionsOpen = 0
    /// How long a message waited for the loop.
    var lagNanoseconds: UInt64 = 0
}

/// A loop whose figures are asked for.
protocol LoopFigureSource: AnyObject, Sendable {
    /// Calls `tell` with the figures, on the loop's own thread.
    func tellFigures(_ tell: @escaping @Sendable (LoopFigures) -> Void)
}

/// Gathers what is counted on all threads, when somebody asks. Belongs to the home loop.
///
/// Whoever does not answer in time, for its disk or its work, is told of as it was when it last did.
final class MetricsGatherer {
    let dispatcher: Dispatcher
    let delivery: TriggerDelivery
    let output: LogOutput
    let memory: MemoryBudget
    private let loop: EventLoop
    private let database: RealtimeDatabase
    private let messagingService: MessagingService
    private var shards: [any LoopFigureSource] = []

    private(set) var loops: [LoopFigures] = []
    private(set) var process = ProcessFigures()
    /// Of the databases that are open, by the id of their opening.
    private(set) var writers: [UInt64: WriterFigures] = [:]
    private(set) var readers: [UInt64: ReaderFigures] = [:]
    /// Of those that were closed.
    private(set) var closedDatabases = TotalFigures()
    private(set) var messaging = MessagingFigures()
    /// How many parts of the last answer are older than the question.
    private(set) var missingCount = 0

    private var databases: Set<UInt64> = []
    private var waiting: [([UInt8]) -> Void] = []
    private var round = 0
    private lazy var timer = Timer(loop: loop) { [unowned self] in finish() }

    /// Nobody waits longer for figures.
    private static let patienceMilliseconds: UInt64 = 1000

    init(
        loop: EventLoop, dispatcher: Dispatcher, delivery: TriggerDelivery, database: RealtimeDatabase, messaging: MessagingService,
        output: LogOutput, memory: MemoryBudget
    ) {
        self.memory = memory
        self.loop = loop
        self.dispatcher = dispatcher
        self.delivery = delivery
        self.database = database
        messagingService = messaging
        self.output = output
    }

    /// The loops that there are, once they are made.
    func use(_ shards: [any LoopFigureSource]) {
        self.shards = shards
        loops = Array(repeating: LoopFigures(), count: shards.count)
    }

    /// Nothing more is asked of anybody.
    func stop() {
        timer.close()
        shards = []
    }

    /// Gathers and writes everything; whoever asks meanwhile gets the same answer.
    func gather(completion: @escaping ([UInt8]) -> Void) {
        waiting.append(completion)
        guard waiting.count == 1 else { return }
        round += 1
        let asked = database.askForFigures(on: loop) { [self, round] id, part in
            // What comes late is kept for the next answer, unless what is closed meanwhile has it by then.
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

    /// From another thread than theirs, so that each of them is as late as it is.
    private func askLoops(_ round: Int) {
        let reference = LoopBound(self, loop: loop)
        loop.offload { [loop, shards] in
            for (index, shard) in shards.enumerated() {
                shard.tellFigures { figures in
                    loop.post { reference.value.didReceive(figures, of: index, round) }
                }
            }
            return ProcessFigures.read()
        } then: { [self] in
            process = $0
            didReceive(round)
        }
    }

    private func didReceive(_ figures: LoopFigures, of index: Int, _ round: Int) {
        loops[index] = figures
        didReceive(round)
    }

    private func didReceive(_ round: Int) {
        // What comes late is kept for the next answer.
        guard round == self.round, !waiting.isEmpty else { return }
        missingCount -= 1
        if missingCount == 0 { finish() }
    }

    private func finish() {
        timer.stop()
        let text = MetricsReport(self).text()
        let completions = waiting
        waiting = []
        for completion in completions { completion(text) }
    }
}
