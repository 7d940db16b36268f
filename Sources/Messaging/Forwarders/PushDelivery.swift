import EventLoop
import HTTP
import Logging

/// What one attempt to hand a message to a push service came to.
enum PushVerdict: Equatable {
    case done(ForwardOutcome)
    /// The service finds our token too old: once more with a new one.
    case newToken
    /// Another attempt may work, after so many seconds where the service says so.
    case again(Int?)
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
    private let turnstile = Turnstile(width: PushLimits.requestsMax)

    init(to name: String, client: HTTPClient, log: Logger, now: @escaping @Sendable () -> Int64) {
        self.name = name
        self.client = client
        self.log = log
        self.now = now
    }

    var nowSeconds: Int64 { now() / 1000 }

    /// Answers on `loop` with what `deliver` comes to.
    func run(on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void, _ deliver: @escaping @Sendable () async -> ForwardOutcome) {
        let answer = LoopBound(answer, loop: loop)
        Task {
            let outcome = await deliver()
            loop.post { answer.value(outcome) }
        }
    }

    /// Offers a message until it is taken, refused for good, or its time is over.
    ///
    /// - Parameter offer: one attempt, made when not too many requests are under way.
    func deliver(_ push: ForwardedPush, _ offer: () async -> PushVerdict) async -> ForwardOutcome {
        var retries = RetryTimes()
        var isFresh = false
        while true {
            let wait: UInt64
            switch await turnstile.pass(offer) {
            case .done(let outcome): return outcome
            case .newToken where !isFresh:
                isFresh = true
                continue
            case .newToken: return .failed("\(name) refuses the key, also with a new token")
            case .again(let asked): wait = retries.next(asked: asked)
            }
            guard now() + Int64(wait) < push.expires else { return .expired }
            try? await Task.sleep(for: .milliseconds(wait))
        }
    }

    /// Sends a request, and asks what the answer means.
    ///
    /// - Parameter origin: where it goes, for the log: the whole address says which device it is.
    func send(_ request: ClientRequest, to origin: String, _ verdict: (ClientResponse) -> PushVerdict) async -> PushVerdict {
        do throws(ClientError) {
            return verdict(try await client.send(request))
        } catch {
            if error.kind == .cancelled || error.kind == .invalidRequest { return .done(.failed(error.message)) }
            log.info("\(name) cannot be reached", metadata: ["origin": "\(origin)", "reason": "\(error)"])
            return .again(nil)
        }
    }
}

extension ClientResponse {
    /// Seconds after which the service wants to be asked again, where it says so in figures.
    var retryAfterSeconds: Int? { header("retry-after").flatMap { Int($0) } }
}
