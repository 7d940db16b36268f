import EventLoop
import HTTP
import Logging

/// The result of one request to a push service.
enum PushVerdict: Equatable {
    case done(ForwardOutcome)
    /// The service regards the token as too old. Repeat the request with a new one.
    case newToken
    /// Another attempt may succeed, after so many seconds if the service asked for a delay.
    case again(Int?)
    /// The service was not reached.
    case notReached
}

/// The part of sending that is the same for all push services. Belongs to no loop: each message is sent by its own task, and answered on the
/// loop of its caller.
struct PushDelivery: Sendable {
    /// The name of the service in error messages and log lines.
    let name: String
    let client: HTTPClient
    let log: Logger
    /// The clock, in milliseconds since 1970.
    let now: @Sendable () -> Int64

    init(to name: String, client: HTTPClient, log: Logger, now: @escaping @Sendable () -> Int64) {
        self.name = name
        self.client = client
        self.log = log
        self.now = now
    }

    /// The time limit for an answer. After it, the message is sent again later.
    static let timeoutMilliseconds = 10_000
    /// The time limit for connecting.
    static let connectMilliseconds = 5000

    var nowSeconds: Int64 { now() / 1000 }

    /// Runs `deliver`, and answers with its outcome on `loop`.
    func run(on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void, _ deliver: @escaping @Sendable () async -> ForwardOutcome) {
        let answer = LoopBound(answer, loop: loop)
        Task {
            let outcome = await deliver()
            loop.post { answer.value(outcome) }
        }
    }

    /// Sends a message, and once more if the service wants a new token.
    func deliver(_ offer: () async -> PushVerdict) async -> ForwardOutcome {
        for _ in 0..<2 {
            switch await offer() {
            case .done(let outcome): return outcome
            case .newToken: continue
            case .again(let asked): return .later(askedSeconds: asked, wasReached: true)
            case .notReached: return .later(askedSeconds: nil, wasReached: false)
            }
        }
        return .failed("\(name) refuses the key, even with a new token")
    }

    /// Sends a request, and lets `verdict` interpret the answer.
    ///
    /// - Parameter origin: the destination for the log, because the full address would identify the device.
    func send(_ request: ClientRequest, to origin: String, _ verdict: (ClientResponse) -> PushVerdict) async -> PushVerdict {
        var request = request
        request.timeoutMilliseconds = Self.timeoutMilliseconds
        request.connectMilliseconds = Self.connectMilliseconds
        do throws(ClientError) {
            return verdict(try await client.send(request))
        } catch {
            switch error.kind {
            case .cancelled, .invalidRequest, .forbiddenAddress: return .done(.failed(error.message))
            default: break
            }
            log.info("\(name) cannot be reached", metadata: ["origin": "\(origin)", "reason": "\(error)"])
            return .notReached
        }
    }
}

extension ClientResponse {
    /// The delay that the service asks for, if it is given in seconds.
    var retryAfterSeconds: Int? { header("retry-after").flatMap { Int($0) } }
}
