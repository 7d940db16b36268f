import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import WorkerProtocol

/// The service `http`: sends the requests of functions to other servers. It runs where the plugin runs, on the plugin's loop, so that neither
/// bodies nor the work of TLS burden the host. `docs/outgoing-http.md` describes it for authors, `docs/services.md` its payloads.
///
/// All methods belong to the loop.
public final class OutgoingCalls {
    private let loop: EventLoop
    private let policy: OutgoingPolicy
    private let exchange: OutgoingExchange
    private var running: [ObjectIdentifier: OutgoingCall] = [:]
    private var waiting: [OutgoingCall] = []

    /// The most calls that wait until they may be sent.
    private static let waitingMax = 256

    /// A service without connections.
    public init(_ policy: OutgoingPolicy, loop: EventLoop) {
        self.loop = loop
        self.policy = policy
        exchange = OutgoingExchange(policy, loop: loop)
    }

    /// Whether a service is this one.
    public static func isName(_ service: Span<UInt8>) -> Bool {
        service.count == 4 && service[0] == 0x68 && service[1] == 0x74 && service[2] == 0x74 && service[3] == 0x70
    }

    /// Answers a call of a method by one call of `completion`.
    public func call(
        _ invocation: InvocationID, method: Span<UInt8>, payload: Span<UInt8>, completion: @escaping (_ succeeded: Bool, _ answer: [UInt8]) -> Void
    ) {
        do throws(OutgoingFailure) {
            switch String(decoding: method.array(), as: UTF8.self) {
            case "send": try send(OutgoingRequest(payload), for: invocation, completion)
            case "cancel":
                cancel(try Self.id(payload))
                completion(true, [])
            default:
                let body: JSONValue = ["code": "unimplemented", "message": "http has the methods send and cancel"]
                completion(false, body.serialized())
            }
        } catch {
            completion(false, error.body)
        }
    }

    private static func id(_ payload: Span<UInt8>) throws(OutgoingFailure) -> String {
        guard let id = (try? JSONValue(parsing: payload.array()))?["id"]?.string, !id.isEmpty else { throw .invalid("\"id\" must be a string") }
        return id
    }

    private func send(
        _ request: OutgoingRequest, for invocation: InvocationID, _ completion: @escaping (Bool, [UInt8]) -> Void
    ) throws(OutgoingFailure) {
        guard running.count < policy.callsMax || waiting.count < Self.waitingMax else {
            throw OutgoingFailure(.busy, "\(policy.callsMax) requests of this worker are being sent, and \(Self.waitingMax) wait")
        }
        let call = OutgoingCall(request, invocation, loop: loop, completion: completion)
        call.startTimer { [unowned self] call in end(call, with: OutgoingFailure(.timeout, "there was no answer in time")) }
        if running.count < policy.callsMax { start(call) } else { waiting.append(call) }
    }

    private func start(_ call: OutgoingCall) {
        running[ObjectIdentifier(call)] = call
        call.task = loop.task { [self] in
            await run(call)
            running[ObjectIdentifier(call)] = nil
            if !waiting.isEmpty { start(waiting.removeFirst()) }
        }
    }

    // A function of its own: as a part of the closure it makes the compiler crash.
    @inline(never)
    private func run(_ call: OutgoingCall) async {
        switch await exchange.answer(call) {
        case .success(let answer): call.finish(true, answer.body)
        case .failure(let failure): call.finish(false, failure.body)
        }
    }

    /// Ends the calls of an invocation that is no longer needed.
    public func cancel(_ invocation: InvocationID) { cancel { $0.invocation == invocation } }

    private func cancel(_ id: String) { cancel { $0.request.id == id } }

    private func cancel(_ isMeant: (OutgoingCall) -> Bool) {
        guard !running.isEmpty else { return }
        for call in Array(running.values) + waiting where isMeant(call) { end(call, with: OutgoingFailure(.cancelled, "the request was cancelled")) }
    }

    private func end(_ call: OutgoingCall, with failure: OutgoingFailure) {
        waiting.removeAll { $0 === call }
        call.stop()
        call.finish(false, failure.body)
    }
}

/// One request of a function, from its start to its answer.
final class OutgoingCall {
    let request: OutgoingRequest
    let invocation: InvocationID
    /// When the request must be answered, on the loop's clock.
    let deadline: UInt64
    /// The task that sends it; nil while it waits.
    var task: Task<Void, Never>?
    private let loop: EventLoop
    private var completion: ((Bool, [UInt8]) -> Void)?
    private var timer: Timer?
    private var pauseTimer: Timer?
    private var paused: CheckedContinuation<Void, Never>?

    init(_ request: OutgoingRequest, _ invocation: InvocationID, loop: EventLoop, completion: @escaping (Bool, [UInt8]) -> Void) {
        self.request = request
        self.invocation = invocation
        self.loop = loop
        self.completion = completion
        deadline = loop.nowMilliseconds + UInt64(max(1, request.timeoutSeconds * 1000))
    }

    /// Whether the function has its answer.
    var isOver: Bool { completion == nil }

    /// Calls `act` when the time of the call is over, unless it has been answered.
    func startTimer(_ act: @escaping (OutgoingCall) -> Void) {
        timer = Timer(loop: loop) { [unowned self] in act(self) }
        timer?.start(afterMilliseconds: deadline - loop.nowMilliseconds)
    }

    func finish(_ isOK: Bool, _ body: [UInt8]) {
        timer = nil
        let completion = completion
        self.completion = nil
        completion?(isOK, body)
    }

    /// Ends the exchange and a pause.
    func stop() {
        task?.cancel()
        goOn()
    }

    /// Waits before another attempt; shorter if the call ends.
    func pause(milliseconds: UInt64) async {
        await withCheckedContinuation { continuation in
            paused = continuation
            pauseTimer = Timer(loop: loop) { [unowned self] in goOn() }
            pauseTimer?.start(afterMilliseconds: milliseconds)
        }
    }

    private func goOn() {
        pauseTimer = nil
        let continuation = paused
        paused = nil
        continuation?.resume()
    }
}
