import HTTP
import HearthJSON
import Logging

/// Gets access tokens for a service account. A token is renewed in advance, by one request for all callers (spec messaging 5.3).
actor AccessTokens {
    /// The reason why there is no token.
    struct Problem: Error, Sendable {
        var text: String
        /// Whether a later attempt may succeed.
        var isTemporary: Bool
    }

    private struct Token {
        var text: String
        var expires: Int64
    }

    private static let messagingScope = "https://www.googleapis.com/auth/firebase.messaging"
    /// A token is renewed when it is valid for less than this, in seconds.
    private static let renewalSeconds: Int64 = 300
    private static let attemptsMax = 4

    private let key: ServiceAccountKey
    private let scope: String
    private let client: HTTPClient
    private let log: Logger
    private let now: @Sendable () -> Int64
    private var token: Token?
    private var renewal: Task<Result<Token, Problem>, Never>?

    /// - Parameters:
    ///   - scope: the permission that the tokens give.
    ///   - now: milliseconds since 1970.
    init(
        _ key: ServiceAccountKey, scope: String = messagingScope, client: HTTPClient, log: Logger, now: @escaping @Sendable () -> Int64
    ) {
        self.key = key
        self.scope = scope
        self.client = client
        self.log = log
        self.now = now
    }

    /// Returns a valid token.
    func current() async throws(Problem) -> String {
        let seconds = now() / 1000
        if let token, token.expires - seconds >= Self.renewalSeconds { return token.text }
        // A token that is still valid is used until the next one has arrived.
        if let token, token.expires > seconds {
            startRenewal()
            return token.text
        }
        return try await startRenewal().value.get().text
    }

    /// Drops a token that the service has refused.
    func forget(_ text: String) {
        if token?.text == text { token = nil }
    }

    @discardableResult
    private func startRenewal() -> Task<Result<Token, Problem>, Never> {
        if let renewal { return renewal }
        let task = Task {
            let result = await fetch()
            // A failed result must not be returned to later callers.
            renewal = nil
            switch result {
            case .success(let token): self.token = token
            case .failure(let problem): log.error("cannot get an access token", metadata: ["reason": "\(problem.text)"])
            }
            return result
        }
        renewal = task
        return task
    }

    private func fetch() async -> Result<Token, Problem> {
        var problem = Problem(text: "", isTemporary: true)
        for attempt in 0..<Self.attemptsMax {
            if attempt > 0 { await client.pause(milliseconds: UInt64(Double(1000 << (attempt - 1)) * Double.random(in: 0.9...1.1))) }
            do throws(Problem) {
                return .success(try await ask())
            } catch {
                problem = error
                guard error.isTemporary else { break }
            }
        }
        return .failure(problem)
    }

    private func ask() async throws(Problem) -> Token {
        let seconds = now() / 1000
        let assertion: String
        do {
            assertion = try key.assertion(scope: scope, now: seconds)
        } catch {
            throw Problem(text: "the service account's key cannot sign: \(error)", isTemporary: false)
        }
        let body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let response: ClientResponse
        do throws(ClientError) {
            response = try await client.send(
                ClientRequest(
                    method: "POST", url: key.tokenURL, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8)))
        } catch {
            throw Problem(text: "cannot ask \(key.tokenURL) for an access token: \(error)", isTemporary: true)
        }
        let json = try? JSONValue(parsing: response.body)
        if response.status == 200, let text = json?["access_token"]?.string, !text.isEmpty {
            // Some servers write it as a string.
            let life = json?["expires_in"].flatMap { $0.int ?? $0.string.flatMap { Int($0) } }
            return Token(text: text, expires: seconds + Int64(max(0, min(life ?? 3600, 86_400))))
        }
        throw Self.problem(response, json, seconds)
    }

    /// The reason why there is no token, with a hint if the clock may be wrong (spec messaging 5.5).
    private static func problem(_ response: ClientResponse, _ json: JSONValue?, _ now: Int64) -> Problem {
        let code = json?["error"]?.string ?? "no access_token"
        let detail = json?["error_description"]?.string ?? ""
        let isTemporary =
            [408, 429, 500, 503, 504].contains(response.status)
            || ["internal_failure", "server_error", "temporarily_unavailable"].contains(code)
        let hint = code == "invalid_grant" ? " (is this machine's clock right, and is the key still valid?)" : ""
        return Problem(text: "the token server answered \(response.status) \(code) \(detail)\(hint)", isTemporary: isTemporary)
    }
}
