import Crypto
import HearthBytes
import HearthJSON
import HTTP

/// The settings of reCAPTCHA v3.
public struct RecaptchaSettings: Sendable, Equatable {
    /// The address that verifies tokens.
    public var url: String
    /// The secret of the site.
    public var secret: String
    /// The least score, from 0 to 1.
    public var scoreMin: Double
    /// The hosts whose pages are accepted; empty for all.
    public var hostnames: [String]
    /// The actions for which a page may have asked for its token; empty for all.
    public var actions: [String]

    /// Settings for a site.
    public init(url: String, secret: String, scoreMin: Double, hostnames: [String], actions: [String] = []) {
        self.actions = actions
        self.url = url
        self.secret = secret
        self.scoreMin = scoreMin
        self.hostnames = hostnames
    }
}

/// The settings of reCAPTCHA Enterprise.
public struct RecaptchaEnterpriseSettings: Sendable, Equatable {
    /// The address at which assessments are made, without the key.
    public var url: String
    /// The API key for that address.
    public var apiKey: String
    /// The key of the site.
    public var siteKey: String
    /// The least score, from 0 to 1.
    public var scoreMin: Double
    /// The actions for which an app may have asked for its token; empty for all.
    public var actions: [String]

    /// Settings for a site.
    public init(url: String, apiKey: String, siteKey: String, scoreMin: Double, actions: [String] = []) {
        self.actions = actions
        self.url = url
        self.apiKey = apiKey
        self.siteKey = siteKey
        self.scoreMin = scoreMin
    }
}

/// The settings of DeviceCheck.
public struct DeviceCheckSettings: Sendable, Equatable {
    /// The address that validates the tokens of devices.
    public var url: String
    public var teamID: String
    public var keyID: String
    /// The private key of the team, in PEM.
    public var privateKey: String

    /// Settings for a team.
    public init(url: String, teamID: String, keyID: String, privateKey: String) {
        self.url = url
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
    }

    /// Whether the private key can be used.
    public var hasKey: Bool { (try? P256.Signing.PrivateKey(pemRepresentation: privateKey)) != nil }
}

/// Sends a request to the server of a provider.
///
/// Trouble of that server is no rejection: a client that is rejected tries again after a day only.
struct ProviderClient: Sendable {
    let client: HTTPClient

    /// The answer, whatever its status.
    func response(_ request: ClientRequest) async throws(AppCheckError) -> ClientResponse {
        var request = request
        request.timeoutMilliseconds = 5000
        request.responseBytesMax = 64 * 1024
        do throws(ClientError) { return try await client.send(request) } catch { throw .unavailable }
    }

    func send(_ request: ClientRequest) async throws(AppCheckError) -> ClientResponse {
        try Self.checked(await response(request))
    }

    private static func checked(_ response: ClientResponse) throws(AppCheckError) -> ClientResponse {
        // Limits and refused credentials of this host are not the client's fault either.
        guard response.status < 500, ![401, 403, 404, 408, 429].contains(response.status) else { throw .unavailable }
        return response
    }

    func json(_ request: ClientRequest) async throws(AppCheckError) -> JSONObject { try Self.object(await response(request)) }

    /// The content of a good answer.
    static func object(_ response: ClientResponse) throws(AppCheckError) -> JSONObject {
        let response = try checked(response)
        guard response.status == 200 else { throw .rejected }
        guard let object = (try? JSONValue(parsing: response.body, limits: JSONLimits(depthMax: 32)))?.object else { throw .unavailable }
        return object
    }
}

/// Google's reCAPTCHA v3, for the web.
struct RecaptchaProvider: AttestationProvider {
    let settings: RecaptchaSettings
    let client: ProviderClient

    var methods: [ExchangeMethod] { [.recaptchaV3] }

    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let answer = try await Self.answer(try request.body.required("recaptchaV3Token"), settings, client)
        guard let score = answer["score"]?.double, score >= settings.scoreMin else { throw .rejected }
        try Self.require(answer["action"]?.string, settings.actions)
        return Attestation()
    }

    /// Refuses a token that a page has got for something else, such as the sending of a form.
    static func require(_ action: String?, _ actions: [String]) throws(AppCheckError) {
        guard actions.isEmpty || action.map(actions.contains) == true else { throw .rejected }
    }

    /// Google's answer about a token of the site.
    static func answer(_ token: String, _ settings: RecaptchaSettings, _ client: ProviderClient) async throws(AppCheckError) -> JSONObject {
        let form = "secret=\(FormText.encoded(settings.secret))&response=\(FormText.encoded(token))"
        let answer = try await client.json(
            ClientRequest(
                method: "POST", url: settings.url, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8)))
        // A wrong secret is a mistake of this host's operator.
        let problems = answer["error-codes"]?.array?.compactMap(\.string) ?? []
        if problems.contains(where: { $0.hasSuffix("input-secret") }) { throw .unavailable }
        guard answer["success"]?.bool == true else { throw .rejected }
        guard settings.hostnames.isEmpty || settings.hostnames.contains(answer["hostname"]?.string ?? "") else { throw .rejected }
        return answer
    }
}

/// reCAPTCHA v2, with which people who sign in prove that they are no programs. It has no score.
public struct RecaptchaCheck: Sendable {
    /// The judgement of a token.
    public enum Verdict: Sendable {
        case accepted, rejected
        /// Google does not answer, or refuses the secret of the host.
        case unavailable
    }

    private let settings: RecaptchaSettings
    private let client: ProviderClient

    /// A check of the tokens of a site.
    public init(_ settings: RecaptchaSettings, client: HTTPClient) {
        self.settings = settings
        self.client = ProviderClient(client: client)
    }

    /// Asks Google about a token.
    public func verdict(_ token: String) async -> Verdict {
        do throws(AppCheckError) {
            _ = try await RecaptchaProvider.answer(token, settings, client)
            return .accepted
        } catch {
            return error.code == AppCheckError.unavailable.code ? .unavailable : .rejected
        }
    }
}

/// Google's reCAPTCHA Enterprise.
struct RecaptchaEnterpriseProvider: AttestationProvider {
    let settings: RecaptchaEnterpriseSettings
    let client: ProviderClient

    var methods: [ExchangeMethod] { [.recaptchaEnterprise] }

    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let token = try request.body.required("recaptchaEnterpriseToken")
        var event: JSONObject = ["token": .string(token), "siteKey": .string(settings.siteKey)]
        // Google's score counts it too.
        if settings.actions.count == 1 { event["expectedAction"] = .string(settings.actions[0]) }
        let body: JSONValue = ["event": .object(event)]
        let answer = try await client.json(
            ClientRequest(
                method: "POST", url: settings.url,
                headers: [("Content-Type", "application/json"), ("X-Goog-Api-Key", settings.apiKey)], body: body.serialized()))
        guard answer["tokenProperties"]?["valid"]?.bool == true, let score = answer["riskAnalysis"]?["score"]?.double,
            score >= settings.scoreMin
        else { throw .rejected }
        try RecaptchaProvider.require(answer["tokenProperties"]?["action"]?.string, settings.actions)
        return Attestation()
    }
}

/// Apple's DeviceCheck: Apple's server tells whether a token is that of a device with an app of the team.
struct DeviceCheckProvider: AttestationProvider {
    let settings: DeviceCheckSettings
    let client: ProviderClient

    var methods: [ExchangeMethod] { [.deviceCheck] }

    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let token = try request.body.bytes("deviceToken")
        let body: JSONValue = [
            "device_token": .string(Base64.text(token)), "timestamp": .int(Int64(request.now) * 1000),
            "transaction_id": .string("\(Base64URL.text(AppCheckStore.hash(token + Array("\(request.now)".utf8))))"),
        ]
        let credential = try credential(now: request.now)
        let response = try await client.send(
            ClientRequest(
                method: "POST", url: settings.url, headers: [("Content-Type", "application/json"), ("Authorization", "Bearer \(credential)")],
                body: body.serialized()))
        guard response.status == 200 else { throw .rejected }
        return Attestation()
    }

    /// A token of the team (ES256).
    private func credential(now: Int) throws(AppCheckError) -> String {
        let header: JSONValue = ["alg": "ES256", "kid": .string(settings.keyID)]
        let claims: JSONValue = ["iss": .string(settings.teamID), "iat": .int(Int64(now))]
        let text = [header, claims].map { Base64URL.text($0.serialized()) }.joined(separator: ".")
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: settings.privateKey),
            let signature = try? key.signature(for: Array(text.utf8))
        else { throw .unavailable }
        return "\(text).\(Base64URL.text(Array(signature.rawRepresentation)))"
    }
}
