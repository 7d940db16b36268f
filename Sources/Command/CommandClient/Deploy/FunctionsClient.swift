import AdminProtocol
import HearthJSON

/// The admin API for functions, versions and libraries.
package struct FunctionsClient {
    /// The client that sends the requests.
    package let client: HostClient

    /// Sends requests through `client`, which must have administrator access.
    package init(_ client: HostClient) { self.client = client }

    // MARK: Functions

    /// All functions, and the revision of the deployed state.
    package func functions() throws(ClientFailure) -> (revision: Int, functions: [HostFunction]) {
        let answer = try ask("GET", "functions")
        guard let list = FunctionList(answer) else { throw notHearth }
        let entries = answer["functions"]?.array ?? []
        return (list.revision, zip(list.functions, entries).map { HostFunction($0, json: $1, at: client.url) })
    }

    /// The versions of a function, newest first.
    package func versions(of name: String) throws(ClientFailure) -> [VersionEntry] {
        try read(VersionList.self, "GET", "functions/\(PercentCoding.encoded(name))/versions").versions
    }

    /// Sends all calls to another version; to the previous one if none is given.
    package func rollBack(_ name: String, to version: Int?) throws(ClientFailure) -> FunctionAnswer {
        try read(FunctionAnswer.self, "POST", "functions/\(PercentCoding.encoded(name)):rollback", RollbackRequest(to: version).json)
    }

    /// Distributes the calls over versions, in percent.
    package func split(_ name: String, _ shares: TrafficShares) throws(ClientFailure) -> FunctionAnswer {
        try read(FunctionAnswer.self, "POST", "functions/\(PercentCoding.encoded(name)):split", SplitRequest(versions: shares).json)
    }

    /// Deletes a function.
    package func delete(_ name: String) throws(ClientFailure) -> FunctionAnswer {
        try read(FunctionAnswer.self, "DELETE", "functions/\(PercentCoding.encoded(name))")
    }

    /// Begins or continues a session of a debugger.
    package func debug(_ name: String, _ request: DebugRequest = DebugRequest()) throws(ClientFailure) -> DebugState {
        try read(DebugState.self, "POST", "functions/\(PercentCoding.encoded(name)):debug", request.json)
    }

    // MARK: Deployments

    /// Plans or runs a deployment.
    package func deploy(_ request: DeploymentRequest) throws(ClientFailure) -> DeploymentSummary {
        try read(DeploymentSummary.self, "POST", "deployments", request.json).sorted
    }

    // MARK: Libraries

    /// The host's state of a library.
    func state(of hash: String) throws(ClientFailure) -> ArtifactAnswer { try read(ArtifactAnswer.self, "GET", "artifacts/\(hash)") }

    /// Lets the host verify an uploaded library.
    func complete(_ hash: String, sizeBytes: Int) throws(ClientFailure) -> ArtifactAnswer {
        try read(ArtifactAnswer.self, "POST", "artifacts/\(hash):complete", ArtifactCompletion(sizeBytes: sizeBytes).json)
    }

    /// Uploads some bytes of a library.
    func put(_ hash: String, offset: Int, _ body: HostRequest.Body) throws(ClientFailure) -> ArtifactAnswer {
        let headers = [(name: "Content-Type", value: "application/octet-stream")]
        let answer = try client.ask(
            HostRequest("PUT", "\(AdminPath.root)/artifacts/\(hash)?offset=\(offset)", headers: headers, body: body))
        guard let json = try? JSONValue(parsing: answer.body), let state = ArtifactAnswer(json) else { throw notHearth }
        return state
    }

    // MARK: Requests

    private func ask(_ method: String, _ place: String, _ body: JSONValue? = nil) throws(ClientFailure) -> JSONValue {
        try client.administer(method, place, body)
    }

    private func read<Answer: AdminMessage>(
        _ type: Answer.Type, _ method: String, _ place: String, _ body: JSONValue? = nil
    ) throws(ClientFailure) -> Answer {
        guard let answer = Answer(try ask(method, place, body)) else { throw notHearth }
        return answer
    }

    private var notHearth: ClientFailure { client.isNoHost }
}

/// A function of a host, with its URL as seen from here.
package struct HostFunction: Sendable {
    /// The host's entry, with the URL as seen from here.
    package let entry: FunctionEntry
    /// The whole entry as JSON.
    package let json: JSONValue

    package var name: String { entry.name }
    package var plugin: String { entry.plugin }
    /// `callable`, `https`, or the type of an event; empty if the function does not run.
    package var trigger: String { entry.trigger ?? "" }
    /// The region in its URL.
    package var region: String { entry.region ?? "" }
    /// Memory of one worker; 0 if unknown.
    package var memoryMebibytes: Int { entry.memoryMb ?? 0 }
    /// Its URL; nil if it has none.
    package var url: String? { entry.url }
    /// The reason why it is not served; nil if it is.
    package var problem: String? { entry.problem }

    /// The versions that get calls, in percent; the largest share first.
    package var traffic: [(version: Int, percent: Int)] {
        let served = entry.traffic?.largestFirst ?? []
        return served.isEmpty ? entry.version.map { [(version: $0, percent: 100)] } ?? [] : served
    }

    /// Whether events start it, rather than requests.
    package var isEvent: Bool { trigger != "callable" && trigger != "https" }

    /// - Parameter json: the entry as the host sent it; nil to encode it.
    init(_ entry: FunctionEntry, json: JSONValue? = nil, at host: HostURL) {
        var seen = entry
        // The host reports its own listening address; replace it by the address it was reached at.
        seen.url = entry.url.map { text in
            let rest = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            return rest.count == 4 ? "\(host)/\(rest[3])" : text
        }
        self.entry = seen
        self.json = json ?? entry.json
    }
}
