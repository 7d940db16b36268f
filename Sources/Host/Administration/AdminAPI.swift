import AdminProtocol
import Deployment
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import Logging
import Logs
import RealtimeDatabase

/// The admin API of one loop: everything below `/_/api` (docs/admin-api.md). It requires the admin token. In development mode `owner`
/// is accepted too, as by the Firebase emulators, as far as ``DevelopmentAccess`` allows it.
package final class AdminAPI {
    let loop: EventLoop
    let log: Logger
    let database: RealtimeDatabase
    /// The outbox of events of users.
    private let userEvents: any OutboxAccess
    private let logs: LogAdministration
    /// The interface to the host as a whole; nil while the host is starting.
    package var control: (any HostControl)?
    let project: String
    private let isDevelopment: Bool
    private let developmentAccess: DevelopmentAccess?
    private let adminToken: [UInt8]
    private let functions: FunctionAdministration.Reference
    private let schedules: ScheduleAdministration
    private let tasks: TaskAdministration
    private let builds: BuildLedger
    private let rulesPath: @Sendable () -> String?

    /// The size limit of a body: rules, and a request to judge by them.
    private static let bodyBytesMax = 16 << 20

    package init(
        loop: EventLoop, project: String, developmentAccess: DevelopmentAccess?, adminToken: [UInt8], database: RealtimeDatabase,
        userEvents: any OutboxAccess, rulesPath: @escaping @Sendable () -> String?, functions: FunctionAdministration.Reference,
        schedules: ScheduleAdministration, tasks: TaskAdministration, builds: BuildLedger, logs: LogStore, log: Logger
    ) {
        self.userEvents = userEvents
        self.log = log
        self.builds = builds
        self.rulesPath = rulesPath
        self.functions = functions
        self.schedules = schedules
        self.tasks = tasks
        self.loop = loop
        self.project = project
        isDevelopment = developmentAccess != nil
        self.developmentAccess = developmentAccess
        self.adminToken = adminToken
        self.database = database
        self.logs = LogAdministration(store: logs, loop: loop)
    }

    /// Whether a request is for the administration API.
    package func claims(_ exchange: HTTPExchange) -> Bool {
        let path = exchange.path
        let count = "/_/api".utf8.count
        guard path.count >= count, path.extracting(first: count).equals("/_/api") else { return false }
        return path.count == count || path[count] == UInt8(ascii: "/")
    }

    /// The treatment of the body of a claimed request: without a valid token it is not even read.
    package func head(_ exchange: HTTPExchange) -> BodyPlan {
        if let refusal = refusal(of: exchange) {
            AdminAnswer.refuse(exchange, refusal)
            return .answered
        }
        return .collect(limit: Self.bodyBytesMax)
    }

    /// Answers a claimed request.
    package func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        if let refusal = refusal(of: exchange) { return AdminAnswer.refuse(exchange, refusal) }
        do throws(AdminError) {
            let call = try AdminCall(exchange, body, isBytes: exchange.method == .put && isUpload(exchange.path))
            loop.task { [self] in await answer(call) }
        } catch {
            AdminAnswer.refuse(exchange, error)
        }
    }

    private func answer(_ call: AdminCall) async {
        do throws(AdminError) {
            if let answer = try await route(call) { AdminAnswer.send(call.exchange, .ok, answer) }
        } catch {
            AdminAnswer.refuse(call.exchange, error)
        }
    }

    /// Whether the body is a piece of a file.
    private func isUpload(_ path: Span<UInt8>) -> Bool {
        Self.isBelow("/_/api/artifacts/", path) || Self.isBelow("/_/api/restores/", path)
    }

    private static func isBelow(_ folder: StaticString, _ path: Span<UInt8>) -> Bool {
        let count = folder.utf8CodeUnitCount
        return path.count > count && path.extracting(first: count).equals(folder)
    }

    /// The reason why the sender of a request is not an administrator; nil if it is one.
    func refusal(of exchange: HTTPExchange) -> AdminError? {
        guard let header = exchange.header("authorization"), header.count > 7,
            header.extracting(first: 7).equalsIgnoringCase(lowercase: "bearer ")
        else { return .unauthenticated }
        let token = header.extracting(7..<header.count)
        if token.equalsInConstantTime(adminToken) { return nil }
        guard let developmentAccess, token.equals("owner") else { return .unauthenticated }
        return developmentAccess.refusal(of: exchange).map { AdminError(.unauthenticated, "the token \"owner\" \($0)") }
    }

    /// Whether the client is an administrator.
    package func isAdministrator(_ exchange: HTTPExchange) -> Bool { refusal(of: exchange) == nil }

    /// Ends the endless streams. To be called before the server waits for its requests.
    package func stop() { logs.stop() }

    // MARK: Routes

    /// - Returns: the answer; nil for a request that is answered in pieces.
    private func route(_ call: AdminCall) async throws(AdminError) -> JSONValue? {
        switch call.segments.first {
        case nil: return try host(call).json
        case "databases": return try await databases(call)
        case "users": return try await users(call)
        case "tasks": return try await tasks.answer(call, on: loop)
        case "schedules": return try await schedules.answer(call, on: loop)
        case "functions", "artifacts", "deployments": return try await functions.answer(call)
        case "builds" where call.segments.count == 1:
            try call.allow(.get)
            return builds.list.json
        case "logs":
            try await logs.handle(call)
            return nil
        case "host": return try await hostVerb(call)
        case "backup":
            try await backup(call)
            return nil
        case "restores": return try await restores(call)
        default: throw .noSuchResource
        }
    }

    private func host(_ call: AdminCall) throws(AdminError) -> HostDescription {
        try call.allow(.get)
        let file = rulesPath()?.split(separator: "/").last.map(String.init)
        return HostDescription(project: project, mode: isDevelopment ? .development : .production, rulesFile: file)
    }

    /// Handles `databases`, `databases/NAME/...`.
    private func databases(_ call: AdminCall) async throws(AdminError) -> JSONValue {
        guard call.segments.count > 1 else { return try list(call).json }
        switch (call.segments.count, call.segments.dropFirst(2).first, call.verb) {
        case (3, "rules", "judge"):
            return try await RulesJudgement(call, try namespace(call), limits: database.limits.rules).answer(on: loop).json
        case (3, "dead-letters", _), (4, "dead-letters", _):
            return try await DeadLetterAdministration(outbox: try namespace(call).namespace, loop: loop, depth: 3).handle(call)
        default: throw .noSuchResource
        }
    }

    /// Handles `users/dead-letters...`.
    private func users(_ call: AdminCall) async throws(AdminError) -> JSONValue {
        guard call.segments.dropFirst().first == "dead-letters", call.segments.count <= 3 else { throw .noSuchResource }
        return try await DeadLetterAdministration(outbox: userEvents, loop: loop, depth: 2).handle(call)
    }

    private func list(_ call: AdminCall) throws(AdminError) -> DatabaseList {
        try call.allow(.get)
        do throws(DatabaseError) {
            // The project's own is listed even before its first use.
            let names = Set(try database.names()).union(CollectionOfOne(database.defaultNamespace)).sorted()
            return DatabaseList(databases: names.map { .init(name: $0, isDefault: $0 == database.defaultNamespace) })
        } catch {
            throw AdminError(error)
        }
    }

    /// The namespace in the path; `-` is the default one.
    private func namespace(_ call: AdminCall) throws(AdminError) -> FoundNamespace {
        let name = call.segments[1] == "-" ? database.defaultNamespace : call.segments[1].lowercased()
        do throws(DatabaseError) {
            return try database.find(name, isKnown: false)
        } catch {
            throw AdminError(error)
        }
    }
}
