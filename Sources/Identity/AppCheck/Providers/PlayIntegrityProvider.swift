import HearthBytes
import HearthJSON
import HTTP

/// The settings of Play Integrity.
public struct PlayIntegritySettings: Sendable {
    /// The service, with its version and without a slash at the end.
    public var url: String
    /// The package of the app.
    public var packageName: String
    /// SHA-256 digests of the certificates with which the app may be signed.
    public var certificates: [[UInt8]]
    /// Verdicts of which a device needs one, such as `MEETS_DEVICE_INTEGRITY`.
    public var deviceVerdicts: [String]
    /// An access token of a service account that may decode tokens; nil if there is none now.
    public var accessToken: @Sendable () async -> String?
    /// Drops an access token that the service has refused.
    public var forgetToken: @Sendable (String) async -> Void

    /// Settings for an app.
    public init(
        url: String, packageName: String, certificates: [[UInt8]], deviceVerdicts: [String], accessToken: @escaping @Sendable () async -> String?,
        forgetToken: @escaping @Sendable (String) async -> Void
    ) {
        self.url = url
        self.packageName = packageName
        self.certificates = certificates
        self.deviceVerdicts = deviceVerdicts
        self.accessToken = accessToken
        self.forgetToken = forgetToken
    }
}

/// Google's Play Integrity: Google's server decodes the token of a device, which says how the app was signed and holds a challenge of this host.
struct PlayIntegrityProvider: AttestationProvider {
    let settings: PlayIntegritySettings
    let client: ProviderClient
    let store: AppCheckStorage

    private static let tokenBytesMax = 32 * 1024

    var methods: [ExchangeMethod] { [.playIntegrity] }

    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let token = try request.body.required("playIntegrityToken")
        guard token.utf8.count <= Self.tokenBytesMax else { throw .invalid("playIntegrityToken is too long.") }
        let verdict = try await verdict(token)
        guard isOfApp(verdict), let nonce = verdict["requestDetails"]?["nonce"]?.string, let challenge = Self.bytes(nonce) else { throw .rejected }
        // A challenge is used up by the first token that holds it.
        let isGood = try await store.perform { store throws(AppCheckFailure) in try store.use(challenge: challenge, app: request.app) }
        guard isGood else { throw .rejected }
        return Attestation()
    }

    /// The decoded content of a token.
    private func verdict(_ token: String) async throws(AppCheckError) -> JSONValue {
        let body: JSONValue = ["integrity_token": .string(token)]
        var response = try await decoding(body)
        // An access token may end before its time, as when the key of the account is removed.
        if response.status == 401 { response = try await decoding(body) }
        guard let verdict = try ProviderClient.object(response)["tokenPayloadExternal"], verdict.object != nil else { throw .unavailable }
        return verdict
    }

    /// The service's answer. An access token that it refuses is not used again.
    private func decoding(_ body: JSONValue) async throws(AppCheckError) -> ClientResponse {
        guard let access = await settings.accessToken() else { throw .unavailable }
        let response = try await client.response(
            ClientRequest(
                method: "POST", url: "\(settings.url)/\(FormText.encoded(settings.packageName)):decodeIntegrityToken",
                headers: [("Content-Type", "application/json"), ("Authorization", "Bearer \(access)")], body: body.serialized()))
        if response.status == 401 { await settings.forgetToken(access) }
        return response
    }

    /// Whether a verdict is about the app, as its developer has signed it, on a device of the required kind.
    func isOfApp(_ verdict: JSONValue) -> Bool {
        let app = verdict["appIntegrity"]
        guard verdict["requestDetails"]?["requestPackageName"]?.string == settings.packageName,
            app?["appRecognitionVerdict"]?.string == "PLAY_RECOGNIZED", app?["packageName"]?.string == settings.packageName
        else { return false }
        let digests = app?["certificateSha256Digest"]?.array?.compactMap { $0.string.flatMap(Self.bytes) } ?? []
        guard digests.contains(where: { settings.certificates.contains($0) }) else { return false }
        let verdicts = verdict["deviceIntegrity"]?["deviceRecognitionVerdict"]?.array?.compactMap(\.string) ?? []
        return settings.deviceVerdicts.contains { verdicts.contains($0) }
    }

    /// The bytes of a text in Base64 of either alphabet, padded or not.
    static func bytes(_ text: String) -> [UInt8]? {
        let letters = text.utf8.prefix { $0 != UInt8(ascii: "=") }.map { letter -> UInt8 in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        return letters.isEmpty || text.utf8.count > 512 ? nil : Base64URL.bytes(letters[...])
    }
}
