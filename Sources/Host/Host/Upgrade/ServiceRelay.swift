import AdminProtocol
import Deployment
import EventLoop
import FunctionDispatch
import HearthBytes
import HearthJSON
import RealtimeDatabase

/// A part of a call or answer that may be longer than a message: a number that all parts have, whether it is the last one, and bytes.
struct RelayPart {
    var number: UInt32
    var isLast: Bool
    var bytes: ArraySlice<UInt8>

    private static let bytesMax = 128 * 1024

    init?(_ rest: ArraySlice<UInt8>) {
        guard rest.count >= 5 else { return nil }
        let start = rest.startIndex
        number = rest[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        isLast = rest[start + 4] == 1
        bytes = rest[(start + 5)...]
    }

    /// Sends `bytes`, in several messages if necessary.
    static func send(_ bytes: [UInt8], number: UInt32, as kind: UpgradeMessage, through channel: MessageChannel) {
        var start = 0
        repeat {
            let end = min(start + bytesMax, bytes.count)
            let head = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
            channel.send(kind.bytes(head + [end == bytes.count ? 1 : 0] + bytes[start..<end]))
            start = end
        } while start < bytes.count
    }
}

/// The old host's side: passes service calls of functions that still run there to the new host, which has the databases. While no host has them,
/// calls wait.
final class ServiceRelay: ServiceSuccessor {
    private var channel: MessageChannel?
    private var number: UInt32 = 0
    private var waiting: [(ServiceCall, (ServiceAnswer) -> Void)] = []
    private var asked: [UInt32: AskedCall] = [:]
    private let loop: EventLoop
    private var isOver = false

    /// A call that the new host has not answered yet.
    private struct AskedCall {
        var answer: [UInt8] = []
        let call: ServiceCall
        let token: CallScope.Token
        let completion: (ServiceAnswer) -> Void
    }

    /// The answer to calls that can no longer be answered.
    private static let gone = ServiceAnswer.failure(
        .unavailable, "the host was upgraded, and the one that runs this function can no longer reach the database; try again")

    init(loop: EventLoop) { self.loop = loop }

    func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        if isOver { return completion(Self.gone) }
        guard let channel else { return waiting.append((call, completion)) }
        number &+= 1
        RelayPart.send(Self.encoded(call), number: number, as: .call, through: channel)
        let token = call.scope.whenOver(on: loop) { [weak self, number] in self?.endScope(number) }
        asked[number] = AskedCall(call: call, token: token, completion: completion)
    }

    /// Tells the new host that the answer to a call is of no use any more.
    private func endScope(_ number: UInt32) {
        guard let channel, asked[number] != nil else { return }
        RelayPart.send([], number: number, as: .callEnds, through: channel)
    }

    /// Ends the waits of calls, because this host stops.
    func hostStops() {
        for number in asked.keys { endScope(number) }
    }

    /// Passes all calls to the new host from now on.
    func open(_ channel: MessageChannel) {
        self.channel = channel
        let calls = waiting
        waiting = []
        for (call, completion) in calls { handle(call, completion: completion) }
    }

    /// Removes and returns the waiting calls, for this host to answer.
    func takeWaiting() -> [(ServiceCall, (ServiceAnswer) -> Void)] {
        let calls = waiting
        waiting = []
        return calls
    }

    /// Processes a part of an answer.
    func receive(_ part: RelayPart) {
        guard var call = asked[part.number] else { return }
        call.answer += part.bytes
        guard part.isLast else { return asked[part.number] = call }
        asked[part.number] = nil
        call.call.scope.forget(call.token)
        let succeeded = call.answer.first == 1
        call.completion(ServiceAnswer(succeeded: succeeded, body: Array(call.answer.dropFirst())))
    }

    /// Fails all calls, because the new host has ended.
    func end() {
        isOver = true
        channel = nil
        let calls = asked.values
        asked = [:]
        for call in calls { call.completion(Self.gone) }
        for (_, completion) in takeWaiting() { completion(Self.gone) }
    }

    /// Encodes a call: the length of the head, the head in JSON, and the payload.
    private static func encoded(_ call: ServiceCall) -> [UInt8] {
        let links = call.chain.links.map { link in
            JSONValue.object(["event": .string(link.event), "function": .string(link.function), "path": .string(link.path)])
        }
        let head = JSONValue.object([
            "service": .string(call.service), "method": .string(call.method), "plugin": .string(call.artifact.name),
            "hash": .string(call.artifact.hash), "depth": .int(Int64(call.chain.depth)), "links": .array(links),
        ]).serialized()
        return [UInt8(truncatingIfNeeded: head.count >> 16), UInt8(truncatingIfNeeded: head.count >> 8), UInt8(truncatingIfNeeded: head.count)]
            + head + call.payload
    }
}

/// The new host's side: answers service calls of functions that run in the old host.
final class ServiceRelayAnswers {
    private let services: ServiceBroker
    private let channel: MessageChannel
    private var coming: [UInt32: [UInt8]] = [:]
    /// The scopes of the calls that are not answered yet.
    private var scopes: [UInt32: CallScope] = [:]

    init(_ services: ServiceBroker, _ channel: MessageChannel) {
        self.services = services
        self.channel = channel
    }

    /// Processes a part of a call.
    func receive(_ part: RelayPart) {
        coming[part.number, default: []] += part.bytes
        guard part.isLast, let bytes = coming.removeValue(forKey: part.number) else { return }
        let answer = { [self] (answer: ServiceAnswer) in
            scopes[part.number] = nil
            RelayPart.send([answer.succeeded ? 1 : 0] + answer.body, number: part.number, as: .answer, through: channel)
        }
        guard let call = Self.decoded(bytes) else { return answer(.failure(.internal, "the call was not understood by the upgraded host")) }
        scopes[part.number] = call.scope
        services.handle(call, completion: answer)
    }

    /// Processes the end of a call's scope.
    func endScope(_ part: RelayPart) { scopes[part.number]?.end() }

    /// Ends the scopes of all calls, because the old host has ended.
    func end() {
        for scope in scopes.values { scope.end() }
    }

    private static func decoded(_ bytes: [UInt8]) -> ServiceCall? {
        guard bytes.count >= 3 else { return nil }
        let end = 3 + (Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2]))
        guard end <= bytes.count, let head = try? JSONValue(parsing: Array(bytes[3..<end])) else { return nil }
        guard let service = head["service"]?.string, let method = head["method"]?.string, let name = head["plugin"]?.string,
            let hash = head["hash"]?.string
        else { return nil }
        let links = (head["links"]?.array ?? []).map { link in
            EventChain.Link(event: link["event"]?.string ?? "", function: link["function"]?.string ?? "", path: link["path"]?.string ?? "")
        }
        return ServiceCall(
            artifact: Artifact(name: name, hash: hash, path: "", displayName: name, lease: Artifact.Lease()), service: service, method: method,
            payload: Array(bytes[end...]), chain: EventChain(depth: head["depth"]?.int ?? 0, links: links))
    }
}
