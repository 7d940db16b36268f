import AdminProtocol
import HearthJSON
import HTTP
import RealtimeDatabase

/// A plugin's call of one of the host's services.
package struct ServiceCall {
    package var artifact: Artifact
    package var service: String
    package var method: String
    /// JSON, as the service describes it.
    package var payload: [UInt8]
    /// The events that led to the calling invocation, for what it writes to carry on.
    package var chain = EventChain()
    /// What the calling invocation is a part of; nil for a call that no invocation makes.
    package var trace: TraceContext?

    package init(
        artifact: Artifact, service: String, method: String, payload: [UInt8], chain: EventChain = EventChain(), trace: TraceContext? = nil
    ) {
        self.artifact = artifact
        self.service = service
        self.method = method
        self.payload = payload
        self.chain = chain
        self.trace = trace
    }
}

/// What a service answers: its JSON, or `{"code", "message", "details"?}`.
package struct ServiceAnswer: Sendable {
    package var succeeded: Bool
    package var body: [UInt8]

    package init(succeeded: Bool, body: [UInt8]) {
        self.succeeded = succeeded
        self.body = body
    }

    /// The service's answer.
    package static func success(_ value: JSONValue) -> ServiceAnswer { ServiceAnswer(succeeded: true, body: value.serialized()) }

    /// An error of the callable protocol's kind.
    package static func failure(_ code: FunctionErrorCode, _ message: String) -> ServiceAnswer {
        ServiceAnswer(
            succeeded: false, body: JSONValue.object(["code": .string(code.name), "message": .string(message)]).serialized())
    }
}

/// Something that functions can call.
package protocol Service: AnyObject {
    /// What a plugin calls it: `database`, `messaging`.
    var name: String { get }
    /// Answers `call` by one call of `completion` on the dispatcher's loop.
    func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void)
}

/// Answers service calls for a host that no longer does.
package protocol ServiceSuccessor: AnyObject {
    /// Answers `call` by one call of `completion` on the dispatcher's loop.
    func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void)
}

/// Hands the plugins' service calls to the services.
package final class ServiceBroker {
    private var services: [String: any Service] = [:]
    /// Who answers in this host's place: the one that has taken over.
    package var successor: (any ServiceSuccessor)?

    /// Every service that the documentation names; one that this host does not run answers so.
    private static let known = ["database", "messaging", "auth"]

    package func register(_ service: any Service) { services[service.name] = service }

    /// Answers `call`, also where there is no such service.
    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        if let successor { return successor.handle(call, completion: completion) }
        if let service = services[call.service] { return service.handle(call, completion: completion) }
        if Self.known.contains(call.service) {
            return completion(.failure(.unavailable, "this host runs no \(call.service) service, so \(call.service).\(call.method) cannot be done"))
        }
        completion(.failure(.unimplemented, "there is no service named \"\(call.service)\"; there are \(Self.known.joined(separator: ", "))"))
    }
}
