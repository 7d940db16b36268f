import HearthBytes
import Crypto

/// Tokens that this server makes and recognises again without keeping them: what they say, and a code over it that only the key's
/// owner can make (HMAC-SHA-256). The key comes from the administrator's token, so that tokens outlive a restart and end with it.
struct SealedTokens: Sendable {
    /// What a token is for; one is never taken for another.
    enum Purpose: String {
        case access = "ya29."
        case installation = "fis."
        case refresh = "fir."
    }

    private let key: SymmetricKey

    /// - Parameter secret: where it is empty, tokens end with the process.
    init(secret: [UInt8]) {
        let secret = secret.isEmpty ? RandomText.bytes(32) : secret
        key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array("messaging tokens".utf8), using: SymmetricKey(data: secret)))
    }

    /// A token that says `content`.
    func seal(_ content: String, for purpose: Purpose) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array((purpose.rawValue + content).utf8), using: key)
        return "\(purpose.rawValue)\(Base64URL.text(Array(content.utf8))).\(Base64URL.text(Array(code)))"
    }

    /// What a token says; nil where it was not made here for this.
    func open(_ token: String, for purpose: Purpose) -> String? {
        guard token.hasPrefix(purpose.rawValue), token.utf8.count <= 4096 else { return nil }
        let parts = Array(token.utf8.dropFirst(purpose.rawValue.utf8.count)).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let content = Base64URL.bytes(parts[0]), let code = Base64URL.bytes(parts[1]) else { return nil }
        let text = String(decoding: content, as: UTF8.self)
        let isGood = HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array((purpose.rawValue + text).utf8), using: key)
        return isGood ? text : nil
    }
}
