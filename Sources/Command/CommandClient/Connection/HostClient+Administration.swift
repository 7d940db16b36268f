import AdminProtocol
import HearthJSON

/// The admin API of a host.
extension HostClient {
    /// Sends a request of the admin API and returns its answer, which is an object.
    ///
    /// - Parameter place: the path below `/_/api/`, with its query.
    package func administer(_ method: String, _ place: String, _ body: JSONValue? = nil) throws(ClientFailure) -> JSONValue {
        let headers = body == nil ? [] : [(name: "Content-Type", value: "application/json")]
        let target = place.isEmpty ? AdminPath.root : "\(AdminPath.root)/\(place)"
        let answer = try ask(HostRequest(method, target, headers: headers, body: body.map { .bytes($0.serialized()) } ?? .none))
        guard let json = try? JSONValue(parsing: answer.body), json.object != nil else { throw isNoHost }
        return json
    }

    /// The same, for an answer of a known type.
    package func administer<Answer: AdminMessage>(
        _ type: Answer.Type, _ method: String, _ place: String, _ body: JSONValue? = nil
    ) throws(ClientFailure) -> Answer {
        guard let answer = Answer(try administer(method, place, body)) else { throw isNoHost }
        return answer
    }

    /// The host's project and mode.
    package func hostDescription() throws(ClientFailure) -> HostDescription { try administer(HostDescription.self, "GET", "") }

    /// The failure for an answer that no host gives.
    package var isNoHost: ClientFailure {
        ClientFailure(.notHTTP, "the server at \(url) is not a Hearth host, or has another version; check --url")
    }
}
