import HearthBytes
import Crypto

/// Tokens that this server issues and verifies without storing them: their content, and an HMAC-SHA-256 of it. The key is derived from the
/// administrator's token, so tokens stay valid after a restart, and become invalid when that token changes.
struct SealedTokens: Sendable {
    /// The use of a token. A token of one use is not accepted for another.
    enum Purpose: String {
        case access = "ya29."
        case installation = "fis."
        case refresh = "fir."
    }

    private let key: SymmetricKey

    /// - Parameter secret: the administrator's token. If it is empty, tokens become invalid when the process ends.
    init(secret: [UInt8]) {
        let secret = secret.isEmpty ? RandomText.bytes(32) : secret
        key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array("messaging tokens".utf8), using: SymmetricKey(data: secret)))
    }

    /// Makes a token with this content.
    func seal(_ content: String, for purpose: Purpose) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array((purpose.rawValue + content).utf8), using: key)
        return "\(purpose.rawValue)\(Base64URL.text(Array(content.utf8))).\(Base64URL.text(Array(code)))"
    }

    /// The content of a token; nil if it was not issued here for this use.
    func open(_ token: String, for purpose: Purpose) -> String? {
        guard token.hasPrefix(purpose.rawValue), token.utf8.count <= 4096 else { return nil }
        let parts = Array(token.utf8.dropFirst(purpose.rawValue.utf8.count)).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let content = Base64URL.bytes(parts[0]), let code = Base64URL.bytes(parts[1]) else { return nil }
        let text = String(decoding: content, as: UTF8.self)
        let isGood = HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array((purpose.rawValue + text).utf8), using: key)
        return isGood ? text : nil
    }
}
