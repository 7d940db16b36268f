import EventLoop
import HTTP
import Logging

/// The result of one request to a push service.
enum PushVerdict: Equatable {
    case done(ForwardOutcome)
    /// The service finds our token too old: once more with a new one.
    case newToken
    /// Another attempt may work, after so many seconds where the service says so.
    case again(Int?)
    /// The service was not reached.
    case notReached
}

/// The way of messages to the push services of one kind, whatever they are like. Belongs to no loop: each message is sent by a task
/// of its own, and answered on the loop that it came from.
struct PushDelivery: Sendable {
    /// How messages and log lines call the services.
    let name: String
    let client: HTTPClient
    let log: Logger
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64

    init(to name: String, client: HTTPClient, log: Logger, now: @escaping @Sendable () -> Int64) {
        self.name = name
        self.client = client
        self.log = log
        self.now = now
    }

    /// How long a service may take to answer. One that is slower is asked again.
    static let timeoutMilliseconds = 10_000
    /// How long a service may take to accept a connection.
    static let connectMilliseconds = 5000

    var nowSeconds: Int64 { now() / 1000 }

    /// Answers on `loop` with what `deliver` comes to.
    func run(on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void, _ deliver: @escaping @Sendable () async -> ForwardOutcome) {
        let answer = LoopBound(answer, loop: loop)
        Task {
            let outcome = await deliver()
            loop.post { answer.value(outcome) }
        }
    }

    /// Offers a message once, and a second time where the service wants a new token.
    func deliver(_ offer: () async -> PushVerdict) async -> ForwardOutcome {
        for _ in 0..<2 {
            switch await offer() {
            case .done(let outcome): return outcome
            case .newToken: continue
            case .again(let asked): return .later(askedSeconds: asked, wasReached: true)
            case .notReached: return .later(askedSeconds: nil, wasReached: false)
            }
        }
        return .failed("\(name) refuses the key, also with a new token")
    }

    /// Sends a request, and asks what the answer means.
    ///
    /// - Parameter origin: where it goes, for the log: the whole address says which device it is.
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
    /// Seconds after which the service wants to be asked again, where it says so in figures.
    var retryAfterSeconds: Int? { header("retry-after").flatMap { Int($0) } }
}
