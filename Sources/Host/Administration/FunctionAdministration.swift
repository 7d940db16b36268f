import AdminProtocol
import Configuration
import Deployment
import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthJSON
import HTTP

/// A request to the administration that is answered on the home loop, whichever loop it came in on.
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

    /// - Throws: `AdminError` unless the method is this one.
    func allow(_ methods: HTTPMethod...) throws(AdminError) {
        guard !methods.contains(method) else { return }
        let names = methods.map(\.description).joined(separator: " or ")
        throw AdminError(.unimplemented, "\(method) is not used here; use \(names)", status: .methodNotAllowed)
    }
}

/// `functions`, `artifacts` and `deployments`: what runs, what ran, and changes of it. Belongs to the home loop.
package final class FunctionAdministration {
    typealias Completion = (Result<JSONValue, AdminError>) -> Void

    /// Leads to it from any loop.
    package struct Reference: Sendable {
        let administration: LoopBound<FunctionAdministration>
        let home: EventLoop

        package init(administration: LoopBound<FunctionAdministration>, home: EventLoop) {
            self.administration = administration
            self.home = home
        }

        /// Answers a call that came in on `loop`.
        func relay(_ call: AdminCall, from loop: EventLoop) {
            let request = HomeCall(call)
            let call = LoopBound(call, loop: loop)
            home.post {
                administration.value.handle(request) { answer in
                    loop.post {
                        switch answer {
                        case .success(let value): call.value.answer(value)
                        case .failure(let error): call.value.refuse(error)
                        }
                    }
                }
            }
        }
    }

    private let deployer: Deployer
    private let artifacts: ArtifactAdministration
    /// `http://127.0.0.1:5001/PROJECT`, below which functions are.
    package var base = ""

    package init(_ deployer: Deployer) {
        self.deployer = deployer
        artifacts = ArtifactAdministration(uploads: deployer.uploads, loop: deployer.loop)
    }

    func handle(_ call: HomeCall, completion: @escaping Completion) {
        do throws(AdminError) {
            guard deployer.isStarted, !deployer.isStopped else {
                throw AdminError(.unavailable, deployer.isStopped ? "the host is stopping" : "the host is starting; try again")
            }
            switch call.segments.first {
            case "artifacts": try artifacts.handle(call, completion: completion)
            case "deployments": try deployments(call, completion)
            default: try functions(call, completion)
            }
        } catch {
            completion(.failure(error))
        }
    }

    // MARK: Deployments

    private func deployments(_ call: HomeCall, _ completion: @escaping Completion) throws(AdminError) {
        guard call.segments.count == 1, call.verb == nil else { throw .noSuchResource }
        try call.allow(.get, .post)
        guard call.method == .post else {
            let records = deployer.state.deployments.reversed().map { record in
                JSONValue.object([
                    "deployment": JSONValue(record.deployment), "time": .string(record.time), "origin": .string(record.origin),
                    "changes": .array(record.changes.map(\.json)),
                ])
            }
            return completion(.success(["deployments": .array(Array(records))]))
        }
        let request = try DeploymentRequest(call.body)
        RemoteDeployment(deployer, request) { answer in
            completion(answer.map(\.json).mapError(AdminError.init))
        }.begin()
    }

    // MARK: Functions

    private func functions(_ call: HomeCall, _ completion: @escaping Completion) throws(AdminError) {
        let name = call.segments.dropFirst().first
        switch (call.segments.count, call.verb) {
        case (1, nil):
            try call.allow(.get)
            let all = deployer.state.functions.keys.sorted().compactMap(description)
            completion(.success(["revision": JSONValue(deployer.state.revision), "functions": .array(all)]))
        case (2, nil):
            try call.allow(.get, .delete)
            if call.method == .delete { return delete(name ?? "", completion) }
            guard let description = description(name ?? "") else { throw unknown(name) }
            completion(.success(description))
        case (3, nil) where call.segments[2] == "versions":
            try call.allow(.get)
            guard let function = deployer.state.functions[name ?? ""] else { throw unknown(name) }
            completion(.success(["versions": .array(function.versions.reversed().map { Self.description($0, of: function) })]))
        case (2, "rollback"):
            try call.allow(.post)
            try rollBack(name ?? "", call, completion)
        case (2, "split"):
            try call.allow(.post)
            try split(name ?? "", call, completion)
        case (2, "invoke"):
            try call.allow(.post)
            guard let function = deployer.live.functions.first(where: { $0.name == name }) else { throw cannotRun(name ?? "") }
            try EventByHand(function, call.body, namespace: deployer.configuration.database.defaultNamespace).run(completion: completion)
        default: throw .noSuchResource
        }
    }

    /// Why a function is not among those that run.
    private func cannotRun(_ name: String) -> AdminError {
        if let problem = deployer.problems[name] { return AdminError(.unavailable, "\(name) cannot run now: \(problem)") }
        if deployer.state.functions[name] != nil {
            return AdminError(.unavailable, "\(name) runs inside the host, and from the host's next start on; restart it")
        }
        return deployer.isLocalKnown ? unknown(name) : AdminError(.unavailable, "the host is starting; try again")
    }

    private func unknown(_ name: String?) -> AdminError { AdminError(.notFound, "there is no function \(name ?? "")") }

    private func description(_ name: String) -> JSONValue? {
        guard let function = deployer.state.functions[name], let main = function.main else { return nil }
        var object: JSONObject = ["name": .string(name)]
        let registered = deployer.live.functions.first { $0.name == name }
        if let registered { describe(registered, &object) }
        object["plugin"] = .string(main.plugin)
        object["version"] = JSONValue(main.number)
        object["artifact"] = .string(main.artifact)
        object["traffic"] = Self.json(function.traffic)
        object["origin"] = .string(main.origin.rawValue)
        object["updated"] = .string(main.time)
        if let problem = deployer.problems[name] { object["problem"] = .string(problem.description) }
        if let registered, registered.version != main.number { object["runningVersion"] = JSONValue(registered.version) }
        return .object(object)
    }

    private func describe(_ function: RegisteredFunction, _ object: inout JSONObject) {
        switch function.trigger {
        case .callable: object["trigger"] = "callable"
        case .https: object["trigger"] = "https"
        case .event(let event):
            object["trigger"] = .string(event.eventType)
            if let ref = event.pathPatterns["ref"] ?? event.filters["ref"] ?? event.filters["resource"] { object["ref"] = .string(ref) }
            if let instance = event.filters["instance"] ?? event.pathPatterns["instance"] { object["instance"] = .string(instance) }
        }
        let options = function.options
        object["region"] = .string(function.region)
        object["memoryMb"] = JSONValue(options.memoryBytes >> 20)
        object["timeoutSeconds"] = .double(options.timeoutSeconds)
        object["concurrency"] = JSONValue(options.concurrency)
        object["minInstances"] = JSONValue(options.minInstances)
        object["maxInstances"] = JSONValue(options.maxInstances)
        if case .event = function.trigger {} else { object["url"] = .string("\(base)/\(function.region)/\(function.name)") }
        var pools = [function.pool]
        if let other = function.alternative, other.pool !== function.pool { pools.append(other.pool) }
        object["instances"] = JSONValue(pools.reduce(0) { $0 + $1.instanceCount })
    }

    private static func description(_ version: FunctionVersion, of function: DeployedFunction) -> JSONValue {
        .object([
            "version": JSONValue(version.number), "artifact": .string(version.artifact), "plugin": .string(version.plugin),
            "file": .string(version.file), "time": .string(version.time), "origin": .string(version.origin.rawValue),
            "deployment": JSONValue(version.deployment), "traffic": JSONValue(function.traffic[version.number] ?? 0),
        ])
    }

    private static func json(_ traffic: [Int: Int]) -> JSONValue {
        .object(JSONObject(traffic.sorted { $0.key < $1.key }.map { ("\($0.key)", JSONValue($0.value)) }))
    }

    // MARK: Acts on one

    private func rollBack(_ name: String, _ call: HomeCall, _ completion: @escaping Completion) throws(AdminError) {
        var version: Int?
        switch call.body["to"] {
        case nil, .null?: break
        case let to?:
            guard let number = to.int else { throw AdminError(.invalidArgument, "to must be the number of a version") }
            version = number
        }
        deployer.rollBack(name, to: version) { answer in
            completion(answer.mapError(AdminError.init).map { result in
                var object: JSONObject = ["function": .string(name), "revision": JSONValue(result.revision)]
                if let from = result.changes.first?.fromVersion { object["from"] = JSONValue(from) }
                if let to = result.changes.first?.toVersion { object["to"] = JSONValue(to) }
                return .object(object)
            })
        }
    }

    private func split(_ name: String, _ call: HomeCall, _ completion: @escaping Completion) throws(AdminError) {
        guard let versions = call.body["versions"]?.object else {
            throw AdminError(.invalidArgument, "versions must be an object such as {\"5\": 90, \"6\": 10}")
        }
        var traffic: [Int: Int] = [:]
        for (key, value) in versions {
            guard let number = Int(key), let percent = value.int else {
                throw AdminError(.invalidArgument, "versions must be an object such as {\"5\": 90, \"6\": 10}")
            }
            traffic[number] = percent
        }
        deployer.split(name, traffic) { [self] answer in
            completion(answer.mapError(AdminError.init).map { result in
                let now = deployer.state.functions[name]?.traffic ?? traffic
                return ["function": .string(name), "traffic": Self.json(now), "revision": JSONValue(result.revision)]
            })
        }
    }

    private func delete(_ name: String, _ completion: @escaping Completion) {
        deployer.delete(name) { answer in
            completion(answer.mapError(AdminError.init).map { ["function": .string(name), "revision": JSONValue($0.revision)] })
        }
    }
}

extension DeploymentResult {
    fileprivate var json: JSONValue {
        var object: JSONObject = [:]
        if let deployment { object["deployment"] = JSONValue(deployment) }
        object["revision"] = JSONValue(revision)
        object["changes"] = .array(changes.map(\.json))
        return .object(object)
    }
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
        var details: JSONObject? = failure.kind == .refused ? ["refusals": .array(failure.sentences.map { .string($0) })] : nil
        if !failure.absent.isEmpty { details?["absent"] = .array(failure.absent.map { .string($0) }) }
        self.init(code, failure.sentences.joined(separator: "\n"), details: details)
    }
}
