import Accounts
import Authentication
import Configuration
import HearthJSON
import Logging

extension AuthenticationTools {
    /// The tools of a host.
    ///
    /// - Parameters:
    ///   - idKeys: the key of ID tokens; nil in development, whose tokens are unsigned.
    ///   - cookieKeys: the key of session cookies; nil in development.
    init(_ configuration: Configuration, idKeys: SigningKey?, cookieKeys: SigningKey?, log: Logger) {
        self.init(
            signIDToken: { idKeys?.sign($0) ?? SigningKey.unsigned($0) },
            signCookie: { cookieKeys?.sign($0) ?? SigningKey.unsigned($0) },
            documents: { kind in
                let keys: SigningKey? =
                    switch kind {
                    case .idTokenKeys, .idTokenCertificates: idKeys
                    case .cookieKeys, .cookieCertificates: cookieKeys
                    }
                return switch kind {
                case .idTokenKeys, .cookieKeys: Array((keys?.document ?? "{\"keys\":[]}").utf8)
                case .idTokenCertificates, .cookieCertificates: Array("{}".utf8)
                }
            },
            hash: { PasswordHash.make($0) },
            verify: { password, user in PasswordHash.verify(password, user) },
            assertion: { credential in
                guard configuration.mode == .development else { return .failure(AuthError("OPERATION_NOT_ALLOWED")) }
                do throws(AuthError) { return .success(try DevelopmentAssertion.identity(credential)) } catch { return .failure(error) }
            },
            send: { _ in true })
    }
}
