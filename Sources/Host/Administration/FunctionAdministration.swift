import AdminProtocol
import Configuration
import Deployment
import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthJSON
import HTTP

/// A request that is answered on the home loop, regardless of the loop on which it arrived.
struct HomeCall: Sendable {
    var method: HTTPMethod
    var segments: [String]
    var verb: String?
    var parameters: [String: String]
    var body: JSONValue
    var bytes: [UInt8]

    init(_ call: AdminCall) {
        method = call.exchange.method
        segments = call.segments
        verb = call.verb
        parameters = call.parameters
        body = call.body
        bytes = call.bytes
    }

    /// - Throws: `AdminError` for other methods than this one.
    func allow(_ methods: HTTPMethod...) throws(AdminError) {
        guard !methods.contains(method) else { return }
        let names = methods.map(\.description).joined(separator: " or ")
        throw AdminError(.unimplemented, "\(method) is not used here; use \(names)", status: 405)
    }
}

/// `functions`, `artifacts` and `deployments`: lists and changes of functions. Belongs to the home loop.
package final class FunctionAdministration {
    /// A reference for all loops.
    package struct Reference: Sendable {
        let administration: LoopBound<FunctionAdministration>
        let home: EventLoop

        package init(administration: LoopBound<FunctionAdministration>, home: EventLoop) {
            self.administration = administration
            self.home = home
        }

        /// Answers a request that arrived on any loop.
        func answer(_ call: AdminCall) async throws(AdminError) -> JSONValue {
            let request = HomeCall(call)
            return try await home.perform { [administration] () async throws(AdminError) in
                try await administration.value.handle(request)
            }
        }
    }

    private let deployer: Deployer
    private let artifacts: ArtifactAdministration
    private let debugging = DebugAdministration()
    /// The base of functions' URLs, such as `http://127.0.0.1:5001/PROJECT`.
    package var base = ""

    package init(_ deployer: Deployer) {
        self.deployer = deployer
        artifacts = ArtifactAdministration(uploads: deployer.uploads, loop: deployer.loop)
    }

    func handle(_ call: HomeCall) async throws(AdminError) -> JSONValue {
        guard deployer.isStarted, !deployer.isStopped else {
            throw AdminError(.unavailable, deployer.isStopped ? "the host is stopping" : "the host is starting; try again")
        }
        switch call.segments.first {
        case "artifacts": return try await artifacts.handle(call)
        case "deployments": return try await deployments(call)
        default: return try await functions(call)
        }
    }

    /// Runs an operation of the deployer.
    private func carryOut(
        _ act: () async throws(DeploymentFailure) -> DeploymentResult
    ) async throws(AdminError) -> DeploymentResult {
        do throws(DeploymentFailure) { return try await act() } catch { throw AdminError(error) }
    }

    // MARK: Deployments

    private func deployments(_ call: HomeCall) async throws(AdminError) -> JSONValue {
        guard call.segments.count == 1, call.verb == nil else { throw .noSuchResource }
        try call.allow(.get, .post)
        guard call.method == .post else { return DeploymentHistory(deployments: deployer.state.deployments.reversed()).json }
        let deployment = RemoteDeployment(deployer, try DeploymentRequest(parsing: call.body))
        return try await carryOut { () async throws(DeploymentFailure) in try await deployment.run() }.summary.json
    }

    // MARK: Functions

    private func functions(_ call: HomeCall) async throws(AdminError) -> JSONValue {
        let name = call.segments.dropFirst().first ?? ""
        switch (call.segments.count, call.verb) {
        case (1, nil):
            try call.allow(.get)
            let all = deployer.state.functions.keys.sorted().compactMap(entry)
            return FunctionList(revision: deployer.state.revision, functions: all).json
        case (2, nil):
            try call.allow(.get, .delete)
            if call.method == .delete { return try await delete(name).json }
            guard let entry = entry(name) else { throw unknown(name) }
            return entry.json
        case (3, nil) where call.segments[2] == "versions":
            try call.allow(.get)
            guard let function = deployer.state.functions[name] else { throw unknown(name) }
            return VersionList(versions: function.versions.reversed().map { VersionEntry($0, of: function) }).json
        case (2, "rollback"):
            try call.allow(.post)
            return try await rollBack(name, try RollbackRequest(parsing: call.body)).json
        case (2, "split"):
            try call.allow(.post)
            return try await split(name, try SplitRequest(parsing: call.body)).json
        case (2, "debug"):
            try call.allow(.post)
            return try debug(name, try DebugRequest(parsing: call.body)).json
        case (2, "invoke"):
            try call.allow(.post)
            guard let function = deployer.live.functions.first(where: { $0.name == name }) else { throw cannotRun(name) }
            let event = try SyntheticEvent(parsing: call.body)
            let configuration = deployer.configuration
            let namespace = configuration.database.defaultNamespace
            return try await EventByHand(function, event, namespace: namespace, project: configuration.project).run().json
        default: throw .noSuchResource
        }
    }

    private func debug(_ name: String, _ request: DebugRequest) throws(AdminError) -> DebugState {
        if let session = request.session { return try debugging.go(on: session, request.action) }
        guard deployer.configuration.mode == .development else {
            throw AdminError(.failedPrecondition, "a host in production mode stops for no debugger; start one with --mode development")
        }
        guard let function = deployer.live.functions.first(where: { $0.name == name }) else { throw cannotRun(name) }
        return try debugging.begin(function)
    }

    /// The error for a function that does not run.
    private func cannotRun(_ name: String) -> AdminError {
        if let problem = deployer.problems[name] { return AdminError(.unavailable, "\(name) cannot run now: \(problem)") }
        if deployer.state.functions[name] != nil {
            return AdminError(.unavailable, "\(name) runs inside the host, and from the host's next start on; restart it")
        }
        return deployer.isLocalKnown ? unknown(name) : AdminError(.unavailable, "the host is starting; try again")
    }

    private func unknown(_ name: String) -> AdminError { AdminError(.notFound, deployer.noFunction(name)) }

    private func entry(_ name: String) -> FunctionEntry? {
        guard let function = deployer.state.functions[name], let main = function.main else { return nil }
        var entry = FunctionEntry(name: name, plugin: main.plugin)
        let registered = deployer.live.functions.first { $0.name == name }
        if let registered { describe(registered, &entry) }
        entry.version = main.number
        entry.artifact = main.artifact
        entry.traffic = TrafficShares(function.traffic)
        entry.origin = main.origin.rawValue
        entry.updated = main.time
        entry.problem = deployer.problems[name]?.description
        if let registered, registered.version != main.number { entry.runningVersion = registered.version }
        return entry
    }

    private func describe(_ function: RegisteredFunction, _ entry: inout FunctionEntry) {
        switch function.trigger {
        case .callable: entry.trigger = "callable"
        case .https: entry.trigger = "https"
        case .blocking(let blocking): entry.trigger = blocking.eventType
        case .schedule: entry.trigger = "scheduled"
        case .task: entry.trigger = "task queue"
        case .event(let event):
            entry.trigger = event.eventType
            entry.ref = event.pathPatterns["ref"] ?? event.filters["ref"] ?? event.filters["resource"]
            entry.instance = event.filters["instance"] ?? event.pathPatterns["instance"]
        }
        let options = function.options
        entry.region = function.region
        entry.memoryMb = Int(options.memoryBytes >> 20)
        entry.timeoutSeconds = options.timeoutSeconds
        entry.concurrency = options.concurrency
        entry.minInstances = options.minInstances
        entry.maxInstances = options.maxInstances
        if function.trigger.isForRequests { entry.url = "\(base)/\(function.region)/\(function.name)" }
        var pools = [function.pool]
        if let other = function.alternative, other.pool !== function.pool { pools.append(other.pool) }
        entry.instances = pools.reduce(0) { $0 + $1.instanceCount }
    }

    // MARK: Changes of one function

    private func rollBack(_ name: String, _ request: RollbackRequest) async throws(AdminError) -> FunctionAnswer {
        let result = try await carryOut { () async throws(DeploymentFailure) in try await deployer.rollBack(name, to: request.to) }
        var answer = FunctionAnswer(function: name, revision: result.revision)
        answer.from = result.changes.first?.fromVersion
        answer.to = result.changes.first?.toVersion
        return answer
    }

    private func split(_ name: String, _ request: SplitRequest) async throws(AdminError) -> FunctionAnswer {
        let wanted = request.versions.percents
        let result = try await carryOut { () async throws(DeploymentFailure) in try await deployer.split(name, wanted) }
        var answer = FunctionAnswer(function: name, revision: result.revision)
        answer.traffic = TrafficShares(deployer.state.functions[name]?.traffic ?? wanted)
        return answer
    }

    private func delete(_ name: String) async throws(AdminError) -> FunctionAnswer {
        let result = try await carryOut { () async throws(DeploymentFailure) in try await deployer.delete(name) }
        return FunctionAnswer(function: name, revision: result.revision)
    }
}

extension VersionEntry {
    fileprivate init(_ version: FunctionVersion, of function: DeployedFunction) {
        self.init(
            version: version.number, artifact: version.artifact, plugin: version.plugin, file: version.file, time: version.time,
            origin: version.origin.rawValue, deployment: version.deployment, traffic: function.traffic[version.number] ?? 0)
    }
}

extension DeploymentResult {
    fileprivate var summary: DeploymentSummary { DeploymentSummary(deployment: deployment, revision: revision, changes: changes) }
}

extension AdminError {
    fileprivate init(_ failure: DeploymentFailure) {
        let code: FunctionErrorCode =
            switch failure.kind {
            case .refused: .invalidArgument
            case .unknown: .notFound
            case .conflict: .aborted
            case .unavailable: .unavailable
            }
        let details = failure.kind == .refused ? DeploymentRefusalDetails(refusals: failure.sentences, absent: failure.absent) : nil
        self.init(code, failure.sentences.joined(separator: "\n"), details: details?.json.object)
    }
}
