import AdminProtocol
import Configuration
import EventDelivery
import FunctionDispatch
import HearthJSON
import Logs
import RealtimeDatabase
import Tree

/// `functions/NAME:invoke`: runs a function of events, of a schedule or of a task queue once with a synthetic event, which is neither stored nor
/// retried.
struct EventByHand {
    private let function: RegisteredFunction
    private let event: OutboxEvent
    private let project: String

    /// - Parameters:
    ///   - given: the event to make.
    ///   - namespace: the default database.
    ///   - project: the id of the project.
    init(_ function: RegisteredFunction, _ given: SyntheticEvent, namespace: String, project: String) throws(AdminError) {
        if case .schedule = function.trigger {
            (self.function, self.project) = (function, project)
            event = try Self.run(of: function, given)
            return
        }
        if case .task = function.trigger {
            (self.function, self.project) = (function, project)
            event = try Self.task(of: function, given)
            return
        }
        guard case .event(let trigger) = function.trigger else {
            let caller = function.trigger.isForRequests ? "requests" : "sign-ins"
            throw AdminError(.failedPrecondition, "\(function.name) is called by \(caller), not by events")
        }
        guard let kind = TriggerKind(eventType: trigger.eventType) else {
            throw AdminError(.failedPrecondition, "this host has no events of type \(trigger.eventType)")
        }
        self.function = function
        self.project = project
        let id = "by-hand-\(UInt64.random(in: .min ... .max))"
        let now = WallClock.now().unixMilliseconds
        let origin = try Self.origin(given)
        if kind.isOfUsers {
            event = try Self.event(ofUser: kind == .userCreated ? given.after : given.before, id, function.name, kind, now, origin)
            return
        }
        let (path, params) = try Self.place(function, trigger, given)
        let payload: JSONValue = ["before": given.before, "after": given.after]
        event = OutboxEvent(
            byHand: id, namespace: given.instance ?? namespace, function: function.name, kind: kind, path: path, params: params,
            payload: payload.serialized(), time: now, origin: origin)
    }

    /// The run of a schedule that is due now.
    private static func run(of function: RegisteredFunction, _ given: SyntheticEvent) throws(AdminError) -> OutboxEvent {
        OutboxEvent(
            byHand: "by-hand-\(UInt64.random(in: .min ... .max))", namespace: Outbox.schedules, function: function.name, kind: .scheduled,
            path: Path([function.name]), params: [], payload: Array("{}".utf8), time: WallClock.now().unixMilliseconds,
            origin: try origin(given))
    }

    /// A task that is in no queue, with the value after as its data.
    private static func task(of function: RegisteredFunction, _ given: SyntheticEvent) throws(AdminError) -> OutboxEvent {
        OutboxEvent(
            byHand: "by-hand-\(UInt64.random(in: .min ... .max))", namespace: Outbox.tasks, function: function.name, kind: .task,
            path: Path([function.name]), params: [], payload: given.after.serialized(), time: WallClock.now().unixMilliseconds,
            origin: try origin(given))
    }

    /// The event of a user with this record.
    private static func event(
        ofUser record: JSONValue, _ id: String, _ function: String, _ kind: TriggerKind, _ now: Int64, _ origin: EventOrigin
    ) throws(AdminError) -> OutboxEvent {
        guard let uid = record["uid"]?.string, !uid.isEmpty else {
            throw AdminError(.invalidArgument, "\(function) runs on users; the data must be a user's record with a uid, as in {\"uid\": \"ada\"}")
        }
        let tenant = record["tenantId"]?.string ?? ""
        return OutboxEvent(
            byHand: id, namespace: Outbox.users, function: function, kind: kind, path: UserEvent.path(tenant: tenant, uid: uid),
            params: tenant.isEmpty ? [] : [EventParameter(name: "tenantId", value: tenant)], payload: record.serialized(), time: now,
            origin: origin)
    }

    /// The place of the value: the function's path with the given values of its wildcards.
    private static func place(
        _ function: RegisteredFunction, _ trigger: EventTrigger, _ given: SyntheticEvent
    ) throws(AdminError) -> (Path, [EventParameter]) {
        let pattern = trigger.pathPatterns["ref"] ?? trigger.filters["ref"] ?? trigger.filters["resource"].map(ref) ?? ""
        var (segments, params): ([String], [EventParameter]) = ([], [])
        for segment in pattern.split(separator: "/").map(String.init) {
            guard let name = name(segment) else {
                segments.append(segment.contains("*") ? "any" : segment)
                continue
            }
            guard let value = given.params[name]?.string, !value.isEmpty else {
                throw AdminError(.invalidArgument, "the path of \(function.name) is \(pattern); params must contain \(name)")
            }
            params.append(EventParameter(name: name, value: value))
            segments.append(value)
        }
        let path: Path
        do throws(PathError) {
            let text = Array(segments.joined(separator: "/").utf8)
            path = try Path(parsing: text.span)
        } catch {
            throw AdminError(.invalidArgument, "\(segments.joined(separator: "/")) is not a path of a database")
        }
        return (path, params)
    }

    /// Runs the function, and returns its outcome.
    func run() async throws(AdminError) -> SyntheticEventAnswer {
        let result = await withCheckedContinuation { continuation in
            EventInvocation(function: function, event: event, project: project) { continuation.resume(returning: $0) }.begin()
        }
        switch result {
        case .succeeded: return SyntheticEventAnswer(event: event.id, error: nil)
        case .failed(let error), .interrupted(let error): return SyntheticEventAnswer(event: event.id, error: error)
        case .refused: throw AdminError(.unavailable, "no worker is free for the event; try again")
        case .stopped: throw AdminError(.unavailable, "the host is stopping")
        }
    }

    private static func origin(_ given: SyntheticEvent) throws(AdminError) -> EventOrigin {
        let text = given.authType
        guard let kind = EventOrigin.Kind.allCases.first(where: { $0.text == text }) else {
            let all = EventOrigin.Kind.allCases.map(\.text).joined(separator: ", ")
            throw AdminError(.invalidArgument, "authType must be one of \(all)")
        }
        return EventOrigin(kind, id: given.authId)
    }

    /// The name `id` in `{id}` and `{id=user-*}`.
    private static func name(_ segment: String) -> String? {
        guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return nil }
        return String(segment.dropFirst().dropLast().prefix { $0 != "=" })
    }

    /// The path in a first-generation resource: `projects/_/instances/NAME/refs/PATH`.
    private static func ref(_ resource: String) -> String {
        let parts = resource.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
        return parts.count > 5 ? String(parts[5]) : ""
    }
}
