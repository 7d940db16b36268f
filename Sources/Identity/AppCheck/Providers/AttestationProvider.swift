import HearthBytes
import HearthJSON

/// The methods with which a client exchanges a proof for a token.
enum ExchangeMethod: String, CaseIterable, Sendable {
    case debug = "exchangeDebugToken"
    case custom = "exchangeCustomToken"
    case recaptchaV3 = "exchangeRecaptchaV3Token"
    case recaptchaEnterprise = "exchangeRecaptchaEnterpriseToken"
    case attestation = "exchangeAppAttestAttestation"
    case assertion = "exchangeAppAttestAssertion"
    case deviceCheck = "exchangeDeviceCheckToken"
    case playIntegrity = "exchangePlayIntegrityToken"

    /// The platform of the apps that the method proves; nil for methods of all platforms.
    var platform: AppPlatform? {
        switch self {
        case .debug, .custom: nil
        case .recaptchaV3, .recaptchaEnterprise: .web
        case .attestation, .assertion, .deviceCheck: .ios
        case .playIntegrity: .android
        }
    }
}

/// The platform that the id of an app names. A proof is bound to it: what proves the app of Android must not give a token for the web's.
enum AppPlatform: String {
    case ios, android, web

    func require(_ app: String) throws(AppCheckError) {
        let parts = app.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[2] == rawValue else { throw .invalid("The app \(app) is none of the platform \(rawValue).") }
    }
}

/// A request to exchange a proof.
struct AttestationRequest: Sendable {
    let app: String
    let method: ExchangeMethod
    let body: AppCheckBody
    /// Seconds since 1970.
    let now: Int
}

/// The result of a proof: the client is the app.
struct Attestation: Sendable {
    /// The lifetime of the token in seconds; nil for the usual one.
    var tokenSeconds: Int?
    /// The id that the token must have; nil for a random one.
    var tokenID: String?
    /// The handle of a device's key, for later exchanges.
    var artifact: [UInt8]?
}

/// Verifies one kind of proof that a client is the app (spec auth 5.1).
protocol AttestationProvider: Sendable {
    /// The methods that the provider answers.
    var methods: [ExchangeMethod] { get }

    /// Verifies a proof.
    ///
    /// - Throws: ``AppCheckError/rejected`` only if the client has not proved that it is the app; ``AppCheckError/unavailable`` if that cannot be
    ///   found out now.
    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation
}

/// The body of a request: a JSON object whose names may be in camel or snake case.
struct AppCheckBody: Sendable {
    private var members: [String: JSONValue] = [:]

    /// Parses a body. An empty one counts as an empty object.
    init(_ bytes: Span<UInt8>) throws(AppCheckError) {
        guard bytes.count > 0 else { return }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, limits: JSONLimits(depthMax: 16))
        } catch {
            throw .invalid("Invalid JSON payload received. \(error.message)")
        }
        guard let object = value.object else { throw .invalid("Invalid JSON payload received. The root element must be an object.") }
        for (name, value) in object { members[Self.key(name)] = value }
    }

    private static func key(_ name: String) -> String { name.filter { $0 != "_" }.lowercased() }

    /// The text of a member; nil if it is absent, null or empty.
    func text(_ name: String) throws(AppCheckError) -> String? {
        guard let value = members[Self.key(name)], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalid("\(name) must be a string.") }
        return text.isEmpty ? nil : text
    }

    func required(_ name: String) throws(AppCheckError) -> String {
        guard let text = try text(name) else { throw .invalid("\(name) is required.") }
        return text
    }

    func flag(_ name: String) throws(AppCheckError) -> Bool {
        guard let value = members[Self.key(name)], !value.isNull else { return false }
        guard let flag = value.bool else { throw .invalid("\(name) must be a boolean.") }
        return flag
    }

    /// The bytes of a member in Base64, of either alphabet.
    func bytes(_ name: String) throws(AppCheckError) -> [UInt8] {
        let letters = try required(name).utf8.map { letter -> UInt8 in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        let padding = letters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, let bytes = Base64URL.bytes(letters.dropLast(padding)), !bytes.isEmpty else {
            throw .invalid("\(name) must be in Base64.")
        }
        return bytes
    }
}
