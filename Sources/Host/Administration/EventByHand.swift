import AdminProtocol
import Configuration
import EventDelivery
import FunctionDispatch
import HearthJSON
import Logs
import RealtimeDatabase
import Tree

/// `functions/NAME:invoke`: runs an event function once, with an event that nobody wrote. It is kept nowhere and not tried again.
struct EventByHand {
    private let function: RegisteredFunction
    private let event: OutboxEvent

    /// - Parameters:
    ///   - body: `before`, `after`, `params`, `authType`, `authId`, `instance`; all may be missing.
    ///   - namespace: the project's own database.
    init(_ function: RegisteredFunction, _ body: JSONValue, namespace: String) throws(AdminError) {
        guard case .event(let trigger) = function.trigger else {
            throw AdminError(.failedPrecondition, "\(function.name) is called by requests, not by events")
        }
        guard let kind = TriggerKind(eventType: trigger.eventType) else {
            throw AdminError(.failedPrecondition, "this host has no events of type \(trigger.eventType)")
        }
        guard body.isNull || body.object != nil else {
            throw AdminError(.invalidArgument, "the body must be an object with before, after and params")
        }
        let given = body["params"]?.object ?? [:]
        let pattern = trigger.pathPatterns["ref"] ?? trigger.filters["ref"] ?? trigger.filters["resource"].map(Self.ref) ?? ""
        var (segments, params): ([String], [EventParameter]) = ([], [])
        for segment in pattern.split(separator: "/").map(String.init) {
            guard let name = Self.name(segment) else {
                segments.append(segment.contains("*") ? "any" : segment)
                continue
            }
            guard let value = given[name]?.string, !value.isEmpty else {
                throw AdminError(.invalidArgument, "the path of \(function.name) is \(pattern): say in params what \(name) is")
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
        let payload: JSONValue = ["before": body["before"] ?? .null, "after": body["after"] ?? .null]
        self.function = function
        event = OutboxEvent(
            byHand: "by-hand-\(UInt64.random(in: .min ... .max))", namespace: body["instance"]?.string ?? namespace, function: function.name,
            kind: kind, path: path, params: params, payload: payload.serialized(), time: WallClock.now().unixMilliseconds,
            origin: try Self.origin(body))
    }

    /// Runs it.
    ///
    /// - Parameter completion: gets what the function came to: `error` is null where it succeeded.
    func run(completion: @escaping (Result<JSONValue, AdminError>) -> Void) {
        let id = event.id
        EventInvocation(function: function, event: event) { result in
            switch result {
            case .succeeded: completion(.success(["event": .string(id), "error": .null]))
            case .failed(let error), .interrupted(let error): completion(.success(["event": .string(id), "error": .string(error)]))
            case .refused: completion(.failure(AdminError(.unavailable, "no worker is free for the event; try again")))
            case .stopped: completion(.failure(AdminError(.unavailable, "the host is stopping")))
            }
        }.begin()
    }

    private static func origin(_ body: JSONValue) throws(AdminError) -> EventOrigin {
        let text = body["authType"]?.string ?? "admin"
        guard let kind = EventOrigin.Kind.allCases.first(where: { $0.text == text }) else {
            let all = EventOrigin.Kind.allCases.map(\.text).joined(separator: ", ")
            throw AdminError(.invalidArgument, "authType must be one of \(all)")
        }
        return EventOrigin(kind, id: body["authId"]?.string)
    }

    /// `id` of `{id}` and `{id=user-*}`.
    private static func name(_ segment: String) -> String? {
        guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return nil }
        return String(segment.dropFirst().dropLast().prefix { $0 != "=" })
    }

    /// `PATH` of the first generation's `projects/_/instances/NAME/refs/PATH`.
    private static func ref(_ resource: String) -> String {
        let parts = resource.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
        return parts.count > 5 ? String(parts[5]) : ""
    }
}
