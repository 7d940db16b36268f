import Crypto
import HearthBytes
import HearthJSON

/// The facts that the host needs when a provider sends a browser back: written into `state`, sealed, so that the host stores nothing.
struct RedirectState: Sendable, Equatable {
    var provider: String
    var tenant: String
    var redirectURI: String
    /// Hash of the session that began the redirect: only the browser that knows it can finish.
    var session: String
    /// Makes the state, its nonce and its code verifier unique.
    var id: String
    /// In seconds since 1970.
    var expires: Int

    /// How long a user may take at the provider.
    static let lifetimeSeconds = 600
}

/// Seals and opens states, and derives their secrets.
struct StateSeal: Sendable {
    private let key: SymmetricKey
    /// A longer state is not the host's.
    private static let bytesMax = 4096

    /// - Parameter key: secret bytes, the same after a restart and on all loops.
    init(key: [UInt8]) { self.key = SymmetricKey(data: SHA256.hash(data: Array("sign-in state ".utf8) + key)) }

    func seal(_ state: RedirectState) -> String {
        let body: JSONValue = [
            "p": .string(state.provider), "t": .string(state.tenant), "r": .string(state.redirectURI), "s": .string(state.session),
            "i": .string(state.id), "e": .int(Int64(state.expires)),
        ]
        let text = Base64URL.text(body.serialized())
        return "\(text).\(Base64URL.text(code("state", text)))"
    }

    /// The content of a state that this host has sealed; nil for any other, and for one that has expired.
    func open(_ text: String, now: Int) -> RedirectState? {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let signature = Base64URL.bytes(parts[1]), signature.span.equalsInConstantTime(code("state", parts[0])),
            let bytes = Base64URL.bytes(parts[0]), let body = try? JSONValue(parsing: bytes, limits: JSONLimits(depthMax: 4)),
            let provider = body["p"]?.string, let tenant = body["t"]?.string, let address = body["r"]?.string,
            let session = body["s"]?.string, let id = body["i"]?.string, let expires = body["e"]?.int, expires > now
        else { return nil }
        return RedirectState(provider: provider, tenant: tenant, redirectURI: address, session: session, id: id, expires: expires)
    }

    /// The nonce that the ID token of a redirect must have.
    func nonce(_ state: RedirectState) -> String { IDTokenRules.hex(code("nonce", state.id)) }

    /// The code verifier of a redirect (RFC 7636 section 4.1).
    func verifier(_ state: RedirectState) -> String { Base64URL.text(code("verifier", state.id)) }

    /// The challenge for the verifier.
    func challenge(_ state: RedirectState) -> String { Base64URL.text(Array(SHA256.hash(data: Array(verifier(state).utf8)))) }

    static func hash(session: String) -> String { Base64URL.text(Array(SHA256.hash(data: Array(session.utf8)))) }

    private func code(_ purpose: String, _ text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("\(purpose) \(text)".utf8), using: key))
    }
}
