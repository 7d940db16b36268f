import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionWorker
import Glibc
import HearthJSON
import Logging

/// The new host's side of an upgrade: prepares, waits for the databases, and takes the old host's connections. Belongs to the home loop.
final class Takeover {
    private unowned let host: HearthHost
    private let start: TakeoverStart
    private let channel: MessageChannel
    private var answers: ServiceRelayAnswers?
    private(set) var hasTaken = false
    private var nextShard = 0

    /// The time limit for workers; functions without one start cold.
    private static let warmingMilliseconds: UInt64 = 10_000

    init(_ start: TakeoverStart, host: HearthHost) throws(LoopError) {
        self.start = start
        self.host = host
        channel = try MessageChannel(loop: host.home, adopting: start.descriptor)
        channel.received = { [unowned self] in receive($0) }
    }

    /// Starts as many workers as the old host has, and tells it that this host could serve. Everything is loaded.
    func prepare() async {
        for function in host.functions {
            guard let count = start.workers[function.name], count > 0 else { continue }
            function.pool.warmUp(to: count)
        }
        let begin = EventLoop.monotonicNanoseconds()
        while host.functions.contains(where: \.pool.isStarting) {
            guard (EventLoop.monotonicNanoseconds() - begin) / 1_000_000 <= Self.warmingMilliseconds else { break }
            await host.home.sleep(milliseconds: 5)
        }
        let refusals = host.refusals.map { JSONValue.string($0.description) }
        channel.send(
            UpgradeMessage.prepared.bytes(.object(["functions": .int(Int64(host.functions.count)), "refusals": .array(refusals)])))
    }

    /// Opens the databases, and serves.
    private func take() async {
        await host.takeDatabases()
        hasTaken = true
        answers = ServiceRelayAnswers(host.services, channel)
        channel.send(UpgradeMessage.serving.bytes)
    }

    private func receive(_ message: MessageChannel.Message?) {
        guard let message, let first = message.bytes.first else {
            // Before the takeover the old host goes on. Afterwards it has ended, as it should.
            answers?.end()
            if hasTaken { host.predecessorDidEnd() } else { host.abandonTakeover() }
            return
        }
        switch UpgradeMessage(rawValue: first) {
        case .running?: host.delivery.attempts.adopt(RunningEvents.events(message.bytes.dropFirst()))
        case .result?:
            if let (event, result) = RunningEvents.result(message.bytes.dropFirst()) { host.delivery.attempts.finish(event, result) }
        case .take?: host.home.task { [self] in await take() }
        case .commit?: host.home.task { [host] in await host.didTakeOver() }
        case .connection?: adopt(message)
        case .call?: if let part = RelayPart(message.bytes.dropFirst()) { answers?.receive(part) }
        case .callEnds?: if let part = RelayPart(message.bytes.dropFirst()) { answers?.endScope(part) }
        default: MessageChannel.closeAll(message.descriptors)
        }
    }

    private func adopt(_ message: MessageChannel.Message) {
        guard let transfer = ConnectionTransfer(message) else { return MessageChannel.closeAll(message.descriptors) }
        host.shards[nextShard % host.shards.count].adopt(transfer)
        nextShard += 1
    }
}
