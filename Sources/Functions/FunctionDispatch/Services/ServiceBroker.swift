import AdminProtocol
import EventLoop
import HearthJSON
import HTTP
import RealtimeDatabase
import Telemetry

/// A call of a service of the host by a plugin.
package struct ServiceCall: Sendable {
    /// Approximate memory that a call takes beside its payload.
    static let overheadBytes = 1024
    /// The longest name of a service or a method.
    static let nameBytesMax = 64

    package var artifact: Artifact
    package var service: String
    package var method: String
    /// The JSON of the arguments, as the service documents it.
    package var payload: [UInt8]
    /// The chain of events that caused the calling invocation; writes of this call continue it.
    package var chain = EventChain()
    /// The trace context of the calling invocation; nil for a call outside invocations.
    package var trace: TraceContext?
    /// The time for which the answer is of use.
    package var scope: CallScope

    package init(
        artifact: Artifact, service: String, method: String, payload: [UInt8], chain: EventChain = EventChain(), trace: TraceContext? = nil,
        scope: CallScope = CallScope()
    ) {
        self.artifact = artifact
        self.service = service
        self.method = method
        self.payload = payload
        self.chain = chain
        self.trace = trace
        self.scope = scope
    }
}

/// The answer of a service: its JSON, or an error as `{"code", "message", "details"?}`.
package struct ServiceAnswer: Sendable {
    package var succeeded: Bool
    package var body: [UInt8]

    package init(succeeded: Bool, body: [UInt8]) {
        self.succeeded = succeeded
        self.body = body
    }

    /// The answer of a successful call.
    package static func success(_ value: JSONValue) -> ServiceAnswer { ServiceAnswer(succeeded: true, body: value.serialized()) }

    /// An error with a code of the callable protocol.
    package static func failure(_ code: FunctionErrorCode, _ message: String) -> ServiceAnswer {
        ServiceAnswer(
            succeeded: false, body: JSONValue.object(["code": .string(code.name), "message": .string(message)]).serialized())
    }
}

/// A service that functions can call.
package protocol Service: AnyObject {
    /// The name that plugins use, such as `database` or `messaging`.
    var name: String { get }
    /// Answers `call` by one call of `completion` on the dispatcher's loop.
    func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void)
    /// Answers the calls that wait for something, because another host takes over. The callers repeat them there.
    func hostChanges()
    /// Refuses the calls that wait for something, now and later, because the host stops.
    func hostStops()
    /// Forgets what belongs to other plugins than these, because they were removed.
    func keepOnly(plugins: Set<String>)
}

extension Service {
    package func keepOnly(plugins: Set<String>) {}
    package func hostChanges() {}
    package func hostStops() {}
}

/// Answers service calls in place of a host that has handed over to another process.
package protocol ServiceSuccessor: AnyObject {
    /// Answers `call` by one call of `completion` on the dispatcher's loop.
    func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void)
    /// Ends the waits of calls, because this host stops.
    func hostStops()
}

/// Passes the service calls of plugins to the services.
package final class ServiceBroker {
    private var services: [String: any Service] = [:]
    /// Records spans of the calls; nil if none are recorded.
    var tracing: Tracing? {
        didSet { if let tracing { traces = tracing.makeSource() } }
    }
    private var traces = TraceSource()
    /// The host that has taken over, which answers service calls from then on.
    package var successor: (any ServiceSuccessor)? {
        didSet {
            guard successor != nil else { return }
            for service in services.values { service.hostChanges() }
        }
    }

    /// The services in the documentation. The error for one of these says that this host does not run it. Workers answer `http` themselves.
    private static let known = ["database", "messaging", "auth", "http", "cache", "tasks"]

    package func register(_ service: any Service) { services[service.name] = service }

    /// Makes the services forget what belongs to other plugins than these.
    package func keepOnly(plugins: Set<String>) {
        for service in services.values { service.keepOnly(plugins: plugins) }
    }

    /// Ends the waits of service calls, because the host stops.
    package func hostStops() {
        for service in services.values { service.hostStops() }
        successor?.hostStops()
    }

    /// Answers `call`; with an error if there is no such service.
    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        guard let tracing, let trace = call.trace, trace.isSampled else { return pass(call, completion: completion) }
        var call = call
        let own = traces.next(after: trace)
        call.trace = own
        let start = EventLoop.monotonicNanoseconds()
        // A plugin's own words are not those of the host.
        let name = services[call.service] == nil ? "unknown service" : "\(call.service).\(call.method)"
        pass(call) { answer in
            tracing.record(
                own, name: name, kind: .client, nanoseconds: EventLoop.monotonicNanoseconds() &- start,
                failure: answer.succeeded ? nil : "the service has answered with an error")
            completion(answer)
        }
    }

    private func pass(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        if let successor { return successor.handle(call, completion: completion) }
        if let service = services[call.service] { return service.handle(call, completion: completion) }
        if Self.known.contains(call.service) {
            return completion(.failure(.unavailable, "\(call.service).\(call.method) is not available: this host does not run that service"))
        }
        completion(.failure(.unimplemented, "there is no service named \"\(call.service)\"; there are \(Self.known.joined(separator: ", "))"))
    }
}
