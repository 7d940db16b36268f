import AdminProtocol
import EventLoop
import FunctionDispatch
import HearthJSON
import Logs
import Messaging

/// The messaging service for functions. `docs/services.md` describes its methods, payloads and answers. Belongs to the dispatcher's loop.
package final class MessagingCalls: Service {
    package let name = "messaging"
    private let messaging: MessagingService
    private let loop: EventLoop

    /// The most messages in a call.
    static let messagesMax = 500
    /// The size limit of a payload in bytes, which allows the most messages at their largest size.
    static let payloadBytesMax = 16 << 20

    package init(messaging: MessagingService, loop: EventLoop) {
        self.messaging = messaging
        self.loop = loop
    }

    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        guard call.payload.count <= Self.payloadBytesMax else {
            return completion(.refused("the payload has more than \(Self.payloadBytesMax >> 20) MiB"))
        }
        guard let payload = (try? JSONValue(parsing: call.payload))?.object else { return completion(.refused("the payload is not a JSON object")) }
        switch call.method {
        case "send": send(payload, completion)
        case "subscribe": changeTopic(.subscribe, payload, completion)
        case "unsubscribe": changeTopic(.unsubscribe, payload, completion)
        case "topics": topics(payload, completion)
        default:
            completion(.failure(.unimplemented, "messaging has no method \"\(call.method)\"; it has send, subscribe, unsubscribe, topics"))
        }
    }

    /// Sends `{"messages": [...], "validateOnly": false}`. The answer has a result for each message, in the same order.
    private func send(_ payload: JSONObject, _ completion: @escaping (ServiceAnswer) -> Void) {
        guard let messages = payload["messages"]?.array, (1...Self.messagesMax).contains(messages.count) else {
            return completion(.refused("\"messages\" must be an array of 1 to \(Self.messagesMax) messages"))
        }
        guard let isValidateOnly = payload["validateOnly"].map({ $0.bool }) ?? false else {
            return completion(.refused("\"validateOnly\" must be true or false"))
        }
        let results = SendResults(count: messages.count, completion)
        for (index, message) in messages.enumerated() {
            let request: JSONValue = ["message": message, "validate_only": .bool(isValidateOnly)]
            messaging.send(request, on: loop) { result in results.set(index, result) }
        }
    }

    /// Subscribes or unsubscribes `{"registrations": [...], "topic": "..."}`. The answer has a result for each registration, in the same order.
    private func changeTopic(_ action: TopicChange.Action, _ payload: JSONObject, _ completion: @escaping (ServiceAnswer) -> Void) {
        guard let list = payload["registrations"]?.array, let topic = payload["topic"]?.string else {
            return completion(.refused("the payload needs \"registrations\", an array, and \"topic\", a string"))
        }
        let registrations = list.compactMap(\.string)
        guard registrations.count == list.count else { return completion(.refused("each of \"registrations\" must be a string")) }
        messaging.changeTopic(action, topic: topic, registrations: registrations, on: loop) { result in
            switch result {
            case .success(let outcomes):
                let results = outcomes.map { outcome -> JSONValue in
                    outcome == .done ? .object(JSONObject()) : ["error": .string(outcome.rawValue)]
                }
                completion(.success(["results": .array(results)]))
            case .failure(let error): completion(error.serviceAnswer)
            }
        }
    }

    /// Lists the topics of `{"registration": "..."}`.
    private func topics(_ payload: JSONObject, _ completion: @escaping (ServiceAnswer) -> Void) {
        guard let registration = payload["registration"]?.string else { return completion(.refused("the payload needs \"registration\", a string")) }
        messaging.topics(of: registration, on: loop) { result in
            switch result {
            case .success(let topics):
                let list = topics.map { topic -> JSONValue in
                    ["topic": .string(topic.topic), "created": .string(WallClock(unixMilliseconds: topic.created).rfc3339)]
                }
                completion(.success(["topics": .array(list)]))
            case .failure(let error): completion(error.serviceAnswer)
            }
        }
    }
}

/// Collects the results of a call's messages, and answers when all are there.
private final class SendResults {
    private var results: [JSONValue]
    private var missing: Int
    private let completion: (ServiceAnswer) -> Void

    init(count: Int, _ completion: @escaping (ServiceAnswer) -> Void) {
        results = Array(repeating: .null, count: count)
        missing = count
        self.completion = completion
    }

    func set(_ index: Int, _ result: Result<String, MessagingError>) {
        switch result {
        case .success(let name): results[index] = ["name": .string(name)]
        case .failure(let error): results[index] = ["error": error.serviceError]
        }
        missing -= 1
        if missing == 0 { completion(.success(["results": .array(results)])) }
    }
}

extension ServiceAnswer {
    /// The answer to an invalid payload.
    fileprivate static func refused(_ message: String) -> ServiceAnswer { MessagingError(.invalidArgument, message).serviceAnswer }
}

extension MessagingError {
    /// The error in the form for functions.
    fileprivate var serviceError: JSONValue {
        let (code, reason) = codeAndReason
        var details: JSONObject = ["reason": .string(reason)]
        if !violations.isEmpty {
            details["fieldViolations"] = .array(
                violations.map { ["field": .string($0.field), "description": .string($0.description)] })
        }
        if let retryAfterSeconds { details["retryAfterSeconds"] = .int(Int64(retryAfterSeconds)) }
        return ["code": .string(code.name), "message": .string(message), "details": .object(details)]
    }

    fileprivate var serviceAnswer: ServiceAnswer { ServiceAnswer(succeeded: false, body: serviceError.serialized()) }

    /// The code of the callable protocol, and the reason in the details.
    private var codeAndReason: (FunctionErrorCode, String) {
        switch kind {
        case .malformed, .invalidArgument: (.invalidArgument, "invalid-argument")
        case .unregistered, .notFound: (.notFound, "unregistered")
        case .senderMismatch: (.permissionDenied, "sender-id-mismatch")
        case .permissionDenied, .insufficientScope: (.permissionDenied, "permission-denied")
        case .unauthenticated, .invalidCredential: (.unauthenticated, "unauthenticated")
        case .thirdPartyAuthentication: (.failedPrecondition, "third-party-auth-error")
        case .quotaExceeded: (.resourceExhausted, "quota-exceeded")
        case .alreadyExists: (.alreadyExists, "invalid-argument")
        case .internalError: (.internal, "internal")
        case .unavailable: (.unavailable, "unavailable")
        }
    }
}
