import Crypto
import CryptoExtras
import HearthBytes
import HearthJSON
import Synchronization
import Tokens

@testable import IdentityProviders

/// The time of the tests' clock unless a test changes it.
let noon = 1_800_000_000
let rawNonce = "raw-nonce_0123456789ABCDEFabcdef"
let appID = "1234567890"
let appSecret = "fbsecret-do-not-leak"

let appleKey = P256.Signing.PrivateKey()

func sha256(_ text: String) -> String { IDTokenRules.hex(SHA256.hash(data: Array(text.utf8))) }

/// A key of a provider, for RS256 or ES256.
struct IssuerKey: Sendable {
    enum Key: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    let id: String
    let key: Key

    static let first = IssuerKey(id: "fb-key-1", key: .rsa(try! _RSA.Signing.PrivateKey(keySize: .bits2048)))
    static let second = IssuerKey(id: "fb-key-2", key: .rsa(try! _RSA.Signing.PrivateKey(keySize: .bits2048)))
    static let curve = IssuerKey(id: "ec-key-1", key: .p256(P256.Signing.PrivateKey()))

    var jwk: JSONValue {
        switch key {
        case .rsa(let key):
            let numbers = try! key.publicKey.getKeyPrimitives()
            return [
                "kty": "RSA", "kid": .string(id), "use": "sig", "n": .string(Base64URL.text(Array(numbers.modulus))),
                "e": .string(Base64URL.text(Array(numbers.publicExponent))),
            ]
        case .p256(let key):
            let point = Array(key.publicKey.rawRepresentation)
            return [
                "kty": "EC", "crv": "P-256", "kid": .string(id), "x": .string(Base64URL.text(Array(point[..<32]))),
                "y": .string(Base64URL.text(Array(point[32...]))),
            ]
        }
    }

    func sign(_ claims: JSONValue, header: [String: JSONValue] = [:]) -> String {
        let algorithm: String = if case .rsa = key { "RS256" } else { "ES256" }
        var head: JSONValue = ["alg": .string(algorithm), "kid": .string(id), "typ": "JWT"]
        for (name, value) in header { head[name] = value.isNull ? Optional.none : value }
        let text = "\(Base64URL.text(head.serialized())).\(Base64URL.text(claims.serialized()))"
        let hash = SHA256.hash(data: Array(text.utf8))
        let signature: [UInt8] =
            switch key {
            case .rsa(let key): Array(try! key.signature(for: hash, padding: .insecurePKCS1v1_5).rawRepresentation)
            case .p256(let key): Array(try! key.signature(for: hash).rawRepresentation)
            }
        return "\(text).\(Base64URL.text(signature))"
    }
}

func document(_ keys: IssuerKey...) -> JSONValue { ["keys": .array(keys.map(\.jwk))] }

func changed(_ claims: JSONValue, _ changes: [String: JSONValue]) -> JSONValue {
    var claims = claims
    for (name, value) in changes { claims[name] = value.isNull ? Optional.none : value }
    return claims
}

/// The claims of a Limited Login that is good at noon.
func limitedClaims(_ changes: [String: JSONValue] = [:]) -> JSONValue {
    changed(
        [
            "iss": "https://www.facebook.com", "aud": .string(appID), "sub": "20001", "iat": JSONValue(noon), "exp": JSONValue(noon + 3600),
            "jti": "jti-1", "nonce": .string(sha256(rawNonce)), "email": "Lim@Example.com", "name": "Lima Fake", "given_name": "Lima",
            "family_name": "Fake", "picture": "https://fake.test/lima.jpg",
        ], changes)
}

/// Providers in memory: answers by the beginning of the address, and what they were asked.
final class FakeTransport: ProviderTransport {
    typealias Answer = @Sendable (ProviderRequest) -> ProviderAnswer?

    private struct State {
        var answers: [(prefix: String, answer: Answer)] = []
        var requests: [ProviderRequest] = []
    }

    private let state = Mutex(State())

    var requests: [ProviderRequest] { state.withLock { $0.requests } }

    func count(_ prefix: String) -> Int { requests.count { $0.url.hasPrefix(prefix) } }

    /// Later rules count more.
    func on(_ prefix: String, _ answer: @escaping Answer) { state.withLock { $0.answers.append((prefix, answer)) } }

    func on(_ prefix: String, _ json: JSONValue, status: Int = 200, maxAge: Int? = nil) {
        on(prefix) { _ in ProviderAnswer(status: status, body: json.serialized(), maxAgeSeconds: maxAge) }
    }

    func send(_ request: ProviderRequest) async -> ProviderAnswer? {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.last { request.url.hasPrefix($0.prefix) }?.answer
        }
        return answer.flatMap { $0(request) }
    }
}

final class FakeLedger: CredentialLedger {
    private let used = Mutex<Set<String>>([])
    private let isDown = Atomic(false)

    func fail() { isDown.store(true, ordering: .releasing) }

    var count: Int { used.withLock { $0.count } }

    func isFirstUse(of key: String, expires: Int) async -> Bool? {
        isDown.load(ordering: .acquiring) ? nil : used.withLock { $0.insert(key).inserted }
    }
}

final class FakeClock: Sendable {
    private let time = Atomic(noon)

    var clock: TokenClock { TokenClock { self.time.load(ordering: .acquiring) } }
    var now: Int { time.load(ordering: .acquiring) }

    func advance(_ seconds: Int) { time.add(seconds, ordering: .acquiringAndReleasing) }
}

/// A directory with every provider, all of them in memory.
struct Scene: Sendable {
    let transport = FakeTransport()
    let ledger = FakeLedger()
    let clock = FakeClock()
    let directory: ProviderDirectory

    static let keyURL = "https://limited.facebook.com/.well-known/oauth/openid/jwks/"
    static let issuer = "https://issuer.test"

    init(_ change: (inout ProviderSettings) -> Void = { _ in }) {
        var settings = ProviderSettings()
        settings.facebook = FacebookSettings(appID: appID, appSecret: appSecret)
        settings.google = GoogleSettings(clientIDs: ["google-client", "google-ios"])
        settings.google?.clientSecret = "google-secret"
        settings.apple = AppleSettings(clientIDs: ["com.example.app"])
        settings.apple?.key = AppleKey(teamID: "TEAM1", keyID: "KEY1", pem: appleKey.pemRepresentation)
        var oidc = OIDCSettings(issuer: Self.issuer, clientID: "oidc-client")
        oidc.clientSecret = "oidc:secret"
        oidc.usesCode = true
        settings.oidc = ["oidc.test": oidc]
        change(&settings)
        directory = ProviderDirectory(settings, transport: transport, ledger: ledger, stateKey: Array("key".utf8), clock: clock.clock)
        transport.on(Self.keyURL, document(.first), maxAge: 3600)
        transport.on("https://www.googleapis.com/", document(.first))
        transport.on("https://appleid.apple.com/auth/keys", document(.first))
        transport.on("\(Self.issuer)/jwks", document(.first, .curve))
        transport.on("\(Self.issuer)/.well-known/", Self.discovery())
    }

    static func discovery(_ changes: [String: JSONValue] = [:]) -> JSONValue {
        changed(
            [
                "issuer": .string(issuer), "jwks_uri": .string("\(issuer)/jwks"), "authorization_endpoint": .string("\(issuer)/authorize"),
                "token_endpoint": .string("\(issuer)/token"),
            ], changes)
    }

    func sign(
        in provider: String = "facebook.com", session: String? = nil, _ parameters: [String: String]
    ) async -> Result<Assertion, AssertionError> {
        await directory.assertion(provider, ProviderParameters(parameters), sessionID: session)
    }

    /// The error of a sign-in; nil if it succeeds.
    func error(in provider: String = "facebook.com", session: String? = nil, _ parameters: [String: String]) async -> AssertionError? {
        switch await sign(in: provider, session: session, parameters) {
        case .success: nil
        case .failure(let error): error
        }
    }
}
