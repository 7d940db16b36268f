import Crypto
import HearthBytes

/// The settings of App Attest.
public struct AppAttestSettings: Sendable, Equatable {
    /// The app on Apple's systems: team and bundle, joined by a dot.
    public var appID: String
    /// The certificate at the end of each chain, in PEM.
    public var root: String
    /// Whether keys of apps under development are accepted.
    public var allowsDevelopment: Bool

    /// Settings for an app.
    public init(teamID: String, bundleID: String, root: String, allowsDevelopment: Bool) {
        appID = "\(teamID).\(bundleID)"
        self.root = root
        self.allowsDevelopment = allowsDevelopment
    }

    /// Whether the root is a certificate.
    public var hasRoot: Bool { CertificateChain.isCertificate(root) }
}

/// Apple's App Attest: a key in the hardware of a device, which Apple's authority attests for an app. Verified without a request to Apple.
struct AppAttestProvider: AttestationProvider {
    let settings: AppAttestSettings
    let store: AppCheckStorage

    private static let nonceExtension = "1.2.840.113635.100.8.2"
    private static let production = Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
    private static let development = Array("appattestdevelop".utf8)

    var methods: [ExchangeMethod] { [.attestation, .assertion] }

    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        request.method == .attestation ? try await attestation(request) : try await assertion(request)
    }

    private var appHash: [UInt8] { Array(SHA256.hash(data: Array(settings.appID.utf8))) }

    // MARK: A new key

    private func attestation(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let keyID = try request.body.bytes("keyId")
        let statement = try request.body.bytes("attestationStatement")
        let challenge = try request.body.bytes("challenge")
        // A challenge is used up by the first attempt, good or bad.
        try await use(challenge, app: request.app)
        guard let key = await verifiedKey(statement, keyID: keyID, challenge: challenge) else { throw .rejected }
        var generator = SystemRandomNumberGenerator()
        let artifact = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try await store.perform { store throws(AppCheckFailure) in try store.add(key: key, artifact: artifact, app: request.app) }
        return Attestation(artifact: artifact)
    }

    /// The public key of a good statement (the steps of Apple's "Validating apps that connect to your server").
    @concurrent
    func verifiedKey(_ statement: [UInt8], keyID: [UInt8], challenge: [UInt8]) async -> [UInt8]? {
        guard let object = CBOR(statement), object["fmt"]?.string == "apple-appattest", let data = object["authData"]?.data,
            let chain = object["attStmt"]?["x5c"]?.elements?.map({ $0.data ?? [] }),
            let leaf = CertificateChain.leaf(chain, root: settings.root, attribute: Self.nonceExtension)
        else { return nil }
        let nonce = Array(SHA256.hash(data: data + Array(SHA256.hash(data: challenge))))
        // SEQUENCE { [1] { OCTET STRING } } around the nonce.
        guard leaf.attribute == [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + nonce else { return nil }
        guard leaf.publicKey.count == 65, Array(SHA256.hash(data: leaf.publicKey)) == keyID else { return nil }
        guard let parts = AuthenticatorData(data), parts.appHash == appHash, parts.counter == 0, parts.credentialID == keyID else { return nil }
        guard parts.environment == Self.production || settings.allowsDevelopment && parts.environment == Self.development else { return nil }
        return leaf.publicKey
    }

    // MARK: A known key

    private func assertion(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let artifact = try request.body.bytes("artifact")
        let statement = try request.body.bytes("assertion")
        let challenge = try request.body.bytes("challenge")
        try await use(challenge, app: request.app)
        let key = try await store.perform { store throws(AppCheckFailure) in try store.key(artifact: artifact, app: request.app) }
        guard let key, let counter = await verifiedCounter(statement, key: key, signed: artifact + challenge) else { throw .rejected }
        // A copy of the key would repeat a counter.
        let isNew = try await store.perform { store throws(AppCheckFailure) in try store.advance(artifact: artifact, to: counter) }
        guard isNew else { throw .rejected }
        return Attestation()
    }

    /// The counter of a good assertion.
    @concurrent
    func verifiedCounter(_ statement: [UInt8], key: [UInt8], signed: [UInt8]) async -> UInt32? {
        guard let object = CBOR(statement), let data = object["authenticatorData"]?.data, let parts = AuthenticatorData(data),
            let signature = object["signature"]?.data.flatMap({ try? P256.Signing.ECDSASignature(derRepresentation: $0) }),
            let key = try? P256.Signing.PublicKey(x963Representation: key), parts.appHash == appHash
        else { return nil }
        let nonce = Array(SHA256.hash(data: data + Array(SHA256.hash(data: signed))))
        return key.isValidSignature(signature, for: nonce) ? parts.counter : nil
    }

    private func use(_ challenge: [UInt8], app: String) async throws(AppCheckError) {
        let isGood = try await store.perform { store throws(AppCheckFailure) in try store.use(challenge: challenge, app: app) }
        guard isGood else { throw .rejected }
    }
}

/// The data that a device's key signs (Web Authentication section 6.1).
struct AuthenticatorData: Equatable {
    let appHash: [UInt8]
    let counter: UInt32
    /// The environment and the id of the key; empty in assertions.
    var environment: [UInt8] = []
    var credentialID: [UInt8] = []

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 37 else { return nil }
        appHash = Array(bytes[0..<32])
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        // The flag says whether a key follows.
        guard bytes[32] & 0x40 != 0 else { return }
        guard bytes.count >= 55 else { return nil }
        environment = Array(bytes[37..<53])
        let length = Int(bytes[53]) << 8 | Int(bytes[54])
        guard length <= bytes.count - 55 else { return nil }
        credentialID = Array(bytes[55..<55 + length])
    }
}
