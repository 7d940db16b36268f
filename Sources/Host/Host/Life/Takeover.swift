import EventLoop
import FunctionDispatch
import FunctionWorker
import Glibc
import HearthJSON
import Logging

/// The new host's side of an upgrade: gets ready, waits for the databases, and takes the old host's connections. Belongs to the home loop.
final class Takeover {
    private unowned let host: HearthHost
    private let start: TakeoverStart
    private let channel: MessageChannel
    private var answers: ServiceRelayAnswers?
    private var timer: Timer?
    private var begin: UInt64 = 0
    private(set) var hasTaken = false
    private var nextShard = 0

    /// Workers are waited for so long; who has none then starts cold.
    private static let warmingMilliseconds: UInt64 = 10_000

    init(_ start: TakeoverStart, host: HearthHost) throws(LoopError) {
        self.start = start
        self.host = host
        channel = try MessageChannel(loop: host.home, adopting: start.descriptor)
        channel.received = { [unowned self] in receive($0) }
    }

    /// Everything is loaded: starts as many workers as the old host has, and says that it could serve.
    func prepare() {
        for function in host.functions {
            guard let count = start.workers[function.name], count > 0 else { continue }
            function.pool.warmUp(to: count)
        }
        begin = EventLoop.monotonicNanoseconds()
        awaitWorkers()
    }

    private func awaitWorkers() {
        let elapsed = (EventLoop.monotonicNanoseconds() - begin) / 1_000_000
        let isWarm = host.functions.allSatisfy { function in !function.pool.isStarting }
        if isWarm || elapsed > Self.warmingMilliseconds {
            timer = nil
            let refusals = host.refusals.map { JSONValue.string($0.description) }
            return channel.send(
                UpgradeMessage.prepared.bytes(.object(["functions": .int(Int64(host.functions.count)), "refusals": .array(refusals)])))
        }
        timer = Timer(loop: host.home) { [unowned self] in awaitWorkers() }
        timer?.start(afterMilliseconds: 5)
    }

    private func receive(_ message: MessageChannel.Message?) {
        guard let message, let first = message.bytes.first else {
            // Before it has taken over it is nobody: the old host goes on. Afterwards the old host has ended, as it should.
            if hasTaken { host.predecessorDidEnd() } else { host.abandonTakeover() }
            return
        }
        switch UpgradeMessage(rawValue: first) {
        case .take?: host.takeDatabases()
        case .commit?: host.didTakeOver()
        case .connection?: adopt(message)
        case .call?: if let part = RelayPart(message.bytes.dropFirst()) { answers?.receive(part) }
        default: MessageChannel.closeAll(message.descriptors)
        }
    }

    /// The databases are open and the sockets are listened on.
    func didTake() {
        hasTaken = true
        answers = ServiceRelayAnswers(host.services, channel)
        channel.send(UpgradeMessage.serving.bytes)
    }

    private func adopt(_ message: MessageChannel.Message) {
        guard let transfer = ConnectionTransfer(message) else { return MessageChannel.closeAll(message.descriptors) }
        host.shards[nextShard % host.shards.count].adopt(transfer)
        nextShard += 1
    }
}
