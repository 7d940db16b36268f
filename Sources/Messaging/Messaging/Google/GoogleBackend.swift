public import EventLoop
public import HTTP
import HearthJSON
public import Logging

/// Sends through Google's own service, the FCM HTTP v1 API, with a service account.
///
/// A message is accepted when Google has accepted it. Temporary refusals are retried for up to a minute. Permanent ones are answered with
/// Google's message.
public final class GoogleBackend: MessagingBackend {
    /// The destination and the limits of requests.
    public struct Settings: Sendable {
        /// The origin for sends.
        public var sendURL = "https://fcm.googleapis.com"
        /// The origin for changes of subscriptions.
        public var topicURL = "https://iid.googleapis.com"
        /// The most concurrent requests.
        public var parallelism = 100
        /// The most messages that wait for their turn. Further ones are answered with `unavailable`.
        public var waitingMax = 10_000
        /// The longest time for attempts to send a message, in milliseconds.
        public var budgetMilliseconds: Int64 = 60_000

        /// Google's origins, and the default limits.
        public init() {}
    }

    private static let attemptsMax = 5

    private let project: String
    private let client: HTTPClient
    private let tokens: AccessTokens
    private let settings: Settings
    private let turnstile: Turnstile
    private let counter = GoogleCounter()
    private let now: @Sendable () -> Int64

    /// - Parameter now: the clock, in milliseconds since 1970.
    public init(
        key: ServiceAccountKey, client: HTTPClient, settings: Settings = Settings(), log: Logger, now: @escaping @Sendable () -> Int64
    ) {
        project = key.projectID
        self.client = client
        self.settings = settings
        self.now = now
        tokens = AccessTokens(key, client: client, log: log, now: now)
        turnstile = Turnstile(width: settings.parallelism)
    }

    /// The metrics of calls, with the current number of waiting ones.
    var figures: GoogleFigures {
        var figures = counter.figures
        figures.waiting = turnstile.waitingCount
        return figures
    }

    // MARK: MessagingBackend

    public func send(_ request: SendRequest, on loop: EventLoop, _ answer: @escaping (Result<String, MessagingError>) -> Void) {
        var body: JSONObject = ["message": .object(request.message.fields)]
        if request.isValidateOnly { body["validate_only"] = true }
        let call = ClientRequest(
            method: "POST", url: "\(settings.sendURL)/v1/projects/\(project)/messages:send", headers: [("Content-Type", "application/json")],
            body: JSONValue.object(body).serialized())
        perform(call, on: loop, answer) { response in
            guard let name = response["name"]?.string else {
                return .failure(MessagingError(.internalError, "the messaging service accepted a message without returning its name"))
            }
            return .success(name)
        }
    }

    public func changeTopic(
        _ change: TopicChange, on loop: EventLoop, _ answer: @escaping (Result<[TopicOutcome], MessagingError>) -> Void
    ) {
        let body: JSONValue = [
            "to": .string("/topics/\(change.topic.text)"), "registration_tokens": .array(change.registrations.map { .string($0) }),
        ]
        let verb = change.action == .subscribe ? "batchAdd" : "batchRemove"
        let call = ClientRequest(
            method: "POST", url: "\(settings.topicURL)/iid/v1:\(verb)",
            headers: [("Content-Type", "application/json"), ("access_token_auth", "true")], body: body.serialized())
        let count = change.registrations.count
        perform(call, on: loop, answer) { response in
            let results = response["results"]?.array ?? []
            guard results.count == count else {
                return .failure(MessagingError(.internalError, "the topic service did not answer for each registration"))
            }
            return .success(results.map { TopicOutcome(rawValue: $0["error"]?.string ?? "") ?? .unknown })
        }
    }

    public func topics(
        of registration: String, project: String, on loop: EventLoop,
        _ answer: @escaping (Result<[SubscribedTopic], MessagingError>) -> Void
    ) {
        guard registration.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/?#%".utf8.contains($0) }), !registration.isEmpty else {
            return loop.post { [answer = LoopBound(answer, loop: loop)] in answer.value(.failure(.badToken)) }
        }
        let call = ClientRequest(
            url: "\(settings.sendURL)/v1/projects/\(self.project)/registrations/\(registration)/topicSubscriptions?page_size=2000")
        perform(call, on: loop, answer) { response in
            let list = response["topic_subscriptions"]?.array ?? response["topicSubscriptions"]?.array ?? []
            let subscriptions = list.map { Self.subscription($0) }
            return .success(subscriptions.sorted { $0.topic < $1.topic })
        }
    }

    private static func subscription(_ entry: JSONValue) -> SubscribedTopic {
        let name = entry["topic_name"] ?? entry["topicName"]
        let time = (entry["create_time"] ?? entry["createTime"])?.string
        return SubscribedTopic(topic: name?.string ?? "", created: time.flatMap { Timestamp($0)?.milliseconds } ?? 0)
    }

    // MARK: Requests

    private func perform<T: Sendable>(
        _ request: ClientRequest, on loop: EventLoop, _ answer: @escaping (Result<T, MessagingError>) -> Void,
        reading: @escaping @Sendable (JSONValue) -> Result<T, MessagingError>
    ) {
        let answer = LoopBound(answer, loop: loop)
        guard turnstile.waitingCount < settings.waitingMax else { return loop.post { answer.value(.failure(.unavailable())) } }
        Task {
            let result = await attempt(request).flatMap(reading)
            loop.post { answer.value(result) }
        }
    }

    /// Sends a request, with retries as in spec messaging 2.6.
    private func attempt(_ request: ClientRequest) async -> Result<JSONValue, MessagingError> {
        let end = now() + settings.budgetMilliseconds
        var retries = RetryTimes()
        var hasNewToken = false
        var attempt = 1
        while true {
            let token: String
            do throws(AccessTokens.Problem) {
                token = try await tokens.current()
            } catch {
                return .failure(MessagingError(error.isTemporary ? .unavailable : .invalidCredential(isExpired: false), error.text))
            }
            let error: MessagingError
            switch await turnstile.pass({ await exchange(request, token) }) {
            case .success(let response) where response.status == 200:
                return .success((try? JSONValue(parsing: response.body)) ?? .null)
            case .success(let response) where GoogleAnswer.isRefusedToken(response) && !hasNewToken:
                hasNewToken = true
                await tokens.forget(token)
                continue
            case .success(let response): error = GoogleAnswer.error(response)
            case .failure(let failure): error = failure
            }
            guard error.isWorthAnotherTry, attempt < Self.attemptsMax else { return .failure(error) }
            let isQuota = if case .quotaExceeded = error.kind { true } else { false }
            let wait = Int64(retries.next(asked: error.retryAfterSeconds ?? (isQuota ? 60 : nil)))
            guard now() + wait < end else { return .failure(error) }
            attempt += 1
            counter.addRetry()
            await client.pause(milliseconds: UInt64(max(wait, 0)))
        }
    }

    private func exchange(_ request: ClientRequest, _ token: String) async -> Result<ClientResponse, MessagingError> {
        var request = request
        request.headers.append(("Authorization", "Bearer \(token)"))
        let start = EventLoop.monotonicNanoseconds()
        do throws(ClientError) {
            let response = try await client.send(request)
            counter.add(status: Int(response.status), nanoseconds: EventLoop.monotonicNanoseconds() - start)
            return .success(response)
        } catch {
            counter.add(status: nil, nanoseconds: EventLoop.monotonicNanoseconds() - start)
            let isOurs = error.kind == .invalidRequest || error.kind == .responseTooLarge
            return .failure(MessagingError(isOurs ? .internalError : .unavailable, "the messaging service cannot be reached: \(error)"))
        }
    }
}

extension MessagingError {
    /// Whether the same request may succeed later.
    fileprivate var isWorthAnotherTry: Bool {
        switch kind {
        case .quotaExceeded, .unavailable, .internalError: true
        default: false
        }
    }
}
