public import HearthJSON

/// The admin API for functions, versions and libraries.
public struct FunctionsClient {
    /// The client that sends the requests.
    public let client: HostClient

    /// Sends requests through `client`, which must have administrator access.
    public init(_ client: HostClient) { self.client = client }

    // MARK: Functions

    /// All functions, and the revision of the deployed state.
    public func functions() throws(ClientFailure) -> (revision: Int, functions: [HostFunction]) {
        let answer = try ask("GET", "functions")
        guard let revision = answer["revision"]?.int, let functions = answer["functions"]?.array else { throw notHearth }
        return (revision, functions.compactMap { HostFunction($0, at: client.url) })
    }

    /// The versions of a function, newest first.
    public func versions(of name: String) throws(ClientFailure) -> [JSONValue] {
        try ask("GET", "functions/\(PercentCoding.encoded(name))/versions")["versions"]?.array ?? []
    }

    /// Sends all calls to another version; to the previous one if none is given.
    public func rollBack(_ name: String, to version: Int?) throws(ClientFailure) -> JSONValue {
        try ask("POST", "functions/\(PercentCoding.encoded(name)):rollback", .object(version.map { ["to": .int(Int64($0))] } ?? [:]))
    }

    /// Distributes the calls over versions, in percent.
    public func split(_ name: String, _ shares: [(version: Int, percent: Int)]) throws(ClientFailure) -> JSONValue {
        let versions = JSONObject(shares.map { ("\($0.version)", .int(Int64($0.percent))) })
        return try ask("POST", "functions/\(PercentCoding.encoded(name)):split", ["versions": .object(versions)])
    }

    /// Deletes a function.
    public func delete(_ name: String) throws(ClientFailure) -> JSONValue {
        try ask("DELETE", "functions/\(PercentCoding.encoded(name))")
    }

    /// The name of the host's project.
    public func project() throws(ClientFailure) -> String {
        guard let answer = try askForObject("GET", "/_/api", nil), let project = answer["project"]?.string else { throw notHearth }
        return project
    }

    // MARK: Deployments

    /// Plans or runs a deployment.
    public func deploy(_ request: DeploymentSubmission) throws(ClientFailure) -> DeploymentSummary {
        guard let plan = DeploymentSummary(try ask("POST", "deployments", request.json)) else { throw notHearth }
        return plan
    }

    // MARK: Libraries

    /// The host's state of a library.
    func state(of hash: String) throws(ClientFailure) -> ArtifactState { try state(try ask("GET", "artifacts/\(hash)")) }

    /// Lets the host verify an uploaded library.
    func complete(_ hash: String, sizeBytes: Int) throws(ClientFailure) -> ArtifactState {
        try state(try ask("POST", "artifacts/\(hash):complete", ["sizeBytes": .int(Int64(sizeBytes))]))
    }

    /// Uploads some bytes of a library.
    func put(_ hash: String, offset: Int, _ body: HostRequest.Body) throws(ClientFailure) -> ArtifactState {
        let headers = [(name: "Content-Type", value: "application/octet-stream")]
        let answer = try client.ask(HostRequest("PUT", "/_/api/artifacts/\(hash)?offset=\(offset)", headers: headers, body: body))
        guard let json = try? JSONValue(parsing: answer.body) else { throw notHearth }
        return try state(json)
    }

    private func state(_ answer: JSONValue) throws(ClientFailure) -> ArtifactState {
        switch (answer["state"]?.string, answer["receivedBytes"]?.int) {
        case ("complete", _): return .complete
        case ("absent", _): return .partial(receivedBytes: 0)
        case ("partial", let bytes?) where bytes >= 0: return .partial(receivedBytes: bytes)
        default: throw notHearth
        }
    }

    // MARK: Requests

    private func ask(_ method: String, _ place: String, _ body: JSONValue? = nil) throws(ClientFailure) -> JSONValue {
        guard let answer = try askForObject(method, "/_/api/\(place)", body) else { throw notHearth }
        return answer
    }

    private func askForObject(_ method: String, _ target: String, _ body: JSONValue?) throws(ClientFailure) -> JSONValue? {
        let headers = body == nil ? [] : [(name: "Content-Type", value: "application/json")]
        let answer = try client.ask(HostRequest(method, target, headers: headers, body: body.map { .bytes($0.serialized()) } ?? .none))
        guard let json = try? JSONValue(parsing: answer.body), json.object != nil else { return nil }
        return json
    }

    private var notHearth: ClientFailure {
        ClientFailure(.notHTTP, "the server at \(client.url) is not a Hearth host, or has another version; check --url")
    }
}

/// The host's state of a library.
enum ArtifactState: Equatable {
    case partial(receivedBytes: Int)
    case complete
}

/// A function in the host's answer.
public struct HostFunction: Sendable {
    /// The name in its URL.
    public let name: String
    /// `callable`, `https`, or the type of an event.
    public let trigger: String
    /// The plugin's name in `functions.json` or in a deployment.
    public let plugin: String
    /// The region in its URL.
    public let region: String
    /// Memory of one worker; 0 if unknown.
    public let memoryMebibytes: Int
    /// The versions that get calls, in percent; the largest share first.
    public let traffic: [(version: Int, percent: Int)]
    /// Its URL as seen from here; nil if it has none.
    public let url: String?
    /// The reason why it is not served; nil if it is.
    public let problem: String?
    /// The whole entry.
    public let json: JSONValue

    /// Whether events start it, rather than requests.
    public var isEvent: Bool { trigger != "callable" && trigger != "https" }

    /// - Returns: nil if it is not a function.
    init?(_ json: JSONValue, at host: HostURL) {
        guard let name = json["name"]?.string, let plugin = json["plugin"]?.string else { return nil }
        self.name = name
        self.plugin = plugin
        self.json = json
        trigger = json["trigger"]?.string ?? ""
        region = json["region"]?.string ?? json["region"]?.array?.compactMap(\.string).joined(separator: ", ") ?? ""
        memoryMebibytes = json["memoryMb"]?.int ?? 0
        problem = json["problem"]?.string
        // The host reports its own listening address; replace it by the address it was reached at.
        url = json["url"]?.string.map { text in
            let rest = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            return rest.count == 4 ? "\(host)/\(rest[3])" : text
        }
        let shares = (json["traffic"]?.object ?? JSONObject()).compactMap { version, percent in
            Int(version).flatMap { number in percent.int.map { (version: number, percent: $0) } }
        }
        let served = shares.filter { $0.percent > 0 }
        traffic = served.isEmpty
            ? json["version"]?.int.map { [(version: $0, percent: 100)] } ?? [] : served.sorted { ($0.percent, $0.version) > ($1.percent, $1.version) }
    }
}
