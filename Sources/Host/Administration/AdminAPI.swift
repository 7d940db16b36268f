import AdminProtocol
import Deployment
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import Logs
import RealtimeDatabase

/// The administration of one loop: everything below `/_/api` (docs/admin-api.md). Only for whoever has the admin token, or in
/// development says `owner`, as the Firebase emulators take it, from where ``DevelopmentAccess`` lets it.
package final class AdminAPI {
    let loop: EventLoop
    let database: RealtimeDatabase
    private let logs: LogAdministration
    /// The host as a whole, once there is one.
    package var control: (any HostControl)?
    let project: String
    private let isDevelopment: Bool
    private let developmentAccess: DevelopmentAccess?
    private let adminToken: [UInt8]
    private let functions: FunctionAdministration.Reference
    private let builds: BuildLedger
    private let rulesPath: @Sendable () -> String?

    /// The longest body: rules, and a request to judge by them.
    private static let bodyBytesMax = 16 << 20

    package init(
        loop: EventLoop, project: String, developmentAccess: DevelopmentAccess?, adminToken: [UInt8], database: RealtimeDatabase,
        rulesPath: @escaping @Sendable () -> String?, functions: FunctionAdministration.Reference, builds: BuildLedger, logs: LogStore
    ) {
        self.builds = builds
        self.rulesPath = rulesPath
        self.functions = functions
        self.loop = loop
        self.project = project
        isDevelopment = developmentAccess != nil
        self.developmentAccess = developmentAccess
        self.adminToken = adminToken
        self.database = database
        self.logs = LogAdministration(store: logs, loop: loop)
    }

    /// Whether a request is one to the administration.
    package func claims(_ exchange: HTTPExchange) -> Bool {
        let path = exchange.path
        let count = "/_/api".utf8.count
        guard path.count >= count, path.extracting(first: count).equals("/_/api") else { return false }
        return path.count == count || path[count] == UInt8(ascii: "/")
    }

    /// What becomes of the body of a request that is claimed: a stranger's is not even read.
    package func head(_ exchange: HTTPExchange) -> BodyPlan {
        if let refusal = refusal(of: exchange) {
            AdminAnswer.refuse(exchange, refusal)
            return .answered
        }
        return .collect(limit: Self.bodyBytesMax)
    }

    /// Answers a request that is claimed.
    package func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        if let refusal = refusal(of: exchange) { return AdminAnswer.refuse(exchange, refusal) }
        do throws(AdminError) {
            let call = try AdminCall(exchange, body, isBytes: exchange.method == .put && isUpload(exchange.path))
            try route(call)
        } catch {
            AdminAnswer.refuse(exchange, error)
        }
    }

    /// Whether what is sent is a piece of a file.
    private func isUpload(_ path: Span<UInt8>) -> Bool {
        Self.isBelow("/_/api/artifacts/", path) || Self.isBelow("/_/api/restores/", path)
    }

    private static func isBelow(_ folder: StaticString, _ path: Span<UInt8>) -> Bool {
        let count = folder.utf8CodeUnitCount
        return path.count > count && path.extracting(first: count).equals(folder)
    }

    /// Why the sender of a request is not an administrator; nil where it is one.
    func refusal(of exchange: HTTPExchange) -> AdminError? {
        guard let header = exchange.header("authorization"), header.count > 7,
            header.extracting(first: 7).equalsIgnoringCase(lowercase: "bearer ")
        else { return .unauthenticated }
        let token = header.extracting(7..<header.count)
        if token.equalsInConstantTime(adminToken) { return nil }
        guard let developmentAccess, token.equals("owner") else { return .unauthenticated }
        return developmentAccess.refusal(of: exchange).map { AdminError(.unauthenticated, "the token \"owner\" \($0)") }
    }

    /// Whether the sender of a request is an administrator.
    package func isAdministrator(_ exchange: HTTPExchange) -> Bool { refusal(of: exchange) == nil }

    /// Ends what would go on without end. Called before the server waits for what has begun.
    package func stop() { logs.stop() }

    // MARK: Routes

    private func route(_ call: AdminCall) throws(AdminError) {
        switch call.segments.first {
        case nil: try host(call)
        case "databases": try databases(call)
        case "functions", "artifacts", "deployments": functions.relay(call, from: loop)
        case "builds" where call.segments.count == 1:
            try call.allow(.get)
            call.answer(builds.json)
        case "logs": try logs.handle(call)
        case "host": try hostVerb(call)
        case "backup": try backup(call)
        case "restores": try restores(call)
        default: throw .noSuchResource
        }
    }

    /// What this host is.
    private func host(_ call: AdminCall) throws(AdminError) {
        try call.allow(.get)
        var answer: JSONObject = ["project": .string(project), "mode": isDevelopment ? "development" : "production"]
        if let file = rulesPath()?.split(separator: "/").last { answer["rulesFile"] = .string(String(file)) }
        call.answer(.object(answer))
    }

    /// `databases`, `databases/NAME/...`.
    private func databases(_ call: AdminCall) throws(AdminError) {
        guard call.segments.count > 1 else { return try listDatabases(call) }
        switch (call.segments.count, call.segments.dropFirst(2).first, call.verb) {
        case (3, "rules", "judge"): try RulesJudgement(call, try namespace(call), limits: database.limits.rules).answer(on: loop)
        case (3, "dead-letters", _), (4, "dead-letters", _):
            try DeadLetterAdministration(namespace: try namespace(call).namespace, loop: loop).handle(call)
        default: throw .noSuchResource
        }
    }

    private func listDatabases(_ call: AdminCall) throws(AdminError) {
        try call.allow(.get)
        do throws(DatabaseError) {
            // The project's own is there even before anybody has used it.
            let names = Set(try database.names()).union(CollectionOfOne(database.defaultNamespace)).sorted()
            call.answer(["databases": .array(names.map { ["name": .string($0), "isDefault": .bool($0 == database.defaultNamespace)] })])
        } catch {
            throw AdminError(error)
        }
    }

    /// The namespace that the path names; `-` is the project's own.
    private func namespace(_ call: AdminCall) throws(AdminError) -> FoundNamespace {
        let name = call.segments[1] == "-" ? database.defaultNamespace : call.segments[1].lowercased()
        do throws(DatabaseError) {
            return try database.find(name, isKnown: false)
        } catch {
            throw AdminError(error)
        }
    }
}
