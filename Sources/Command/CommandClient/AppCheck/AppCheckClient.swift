import AdminProtocol
public import HearthJSON

/// Accesses App Check of a host, as its administrator.
public final class AppCheckClient {
    private let client: HostClient

    /// Sends requests through `client`.
    public init(_ client: HostClient) { self.client = client }

    /// The apps of the configuration and the registered ones.
    public func apps() throws(ClientFailure) -> [JSONValue] { try ask("GET", "apps")["apps"]?.array ?? [] }

    /// Registers an app, or changes its name.
    public func register(_ app: String, name: String?) throws(ClientFailure) {
        var body: JSONObject = ["appId": .string(app)]
        body["displayName"] = name.map { .string($0) }
        _ = try ask("POST", "apps", body)
    }

    /// Removes a registered app with its debug tokens.
    public func remove(_ app: String) throws(ClientFailure) { _ = try ask("DELETE", "apps/\(PercentCoding.encoded(app))") }

    /// The debug tokens of an app, without the secrets.
    public func debugTokens(of app: String) throws(ClientFailure) -> [JSONValue] {
        try ask("GET", "apps/\(PercentCoding.encoded(app))/debugTokens")["debugTokens"]?.array ?? []
    }

    /// Adds a debug token. Returns it with its secret, which the host does not show again.
    ///
    /// - Parameter secret: a UUID of version 4; nil for a new one.
    public func addDebugToken(to app: String, name: String, secret: String?) throws(ClientFailure) -> JSONObject {
        var body: JSONObject = ["displayName": .string(name)]
        body["token"] = secret.map { .string($0) }
        return try ask("POST", "apps/\(PercentCoding.encoded(app))/debugTokens", body)
    }

    /// Removes a debug token.
    public func removeDebugToken(_ id: String, of app: String) throws(ClientFailure) {
        _ = try ask("DELETE", "apps/\(PercentCoding.encoded(app))/debugTokens/\(PercentCoding.encoded(id))")
    }

    private func ask(_ method: String, _ path: String, _ body: JSONObject? = nil) throws(ClientFailure) -> JSONObject {
        let project = try client.hostDescription().project
        let target = "/firebaseappcheck.googleapis.com/v1/projects/\(PercentCoding.encoded(project))/\(path)"
        let request =
            if let body {
                HostRequest(method, target, headers: [("Content-Type", "application/json")], body: .bytes(JSONValue.object(body).serialized()))
            } else {
                HostRequest(method, target)
            }
        let answer = try client.send(request)
        let document = try? JSONValue(parsing: answer.body)
        if answer.status == 400 || answer.status == 404 || answer.status == 429, let message = document?["error"]?["message"]?.string {
            throw ClientFailure(.refused(status: answer.status), message)
        }
        guard answer.status < 400 else { throw client.refusal(answer) }
        guard let object = document?.object else {
            throw ClientFailure(.notHTTP, "the server at \(client.url) is not a Hearth host; check --url")
        }
        return object
    }
}
