import Accounts
import Authentication
import Configuration
import HearthJSON
import Logging
import Tokens

extension AuthenticationTools {
    /// The tools of a host.
    ///
    /// - Parameters:
    ///   - idKeys: the key of ID tokens; nil in development, whose tokens are unsigned.
    ///   - cookieKeys: the key of session cookies; nil in development.
    init(_ configuration: Configuration, idKeys: KeyRing?, cookieKeys: KeyRing?, log: Logger) {
        self.init(
            signIDToken: Self.signing(idKeys, log),
            signCookie: Self.signing(cookieKeys, log),
            documents: { kind in
                let document: [UInt8]? =
                    switch kind {
                    case .idTokenKeys: try? idKeys?.keySet()
                    case .cookieKeys: try? cookieKeys?.keySet()
                    case .idTokenCertificates: try? idKeys?.certificates()
                    case .cookieCertificates: try? cookieKeys?.certificates()
                    }
                let isSet = kind == .idTokenKeys || kind == .cookieKeys
                return document ?? Array((isSet ? "{\"keys\":[]}" : "{}").utf8)
            },
            hash: { PasswordHash.make($0) },
            verify: { password, user in PasswordHash.verify(password, user) },
            assertion: { credential in
                guard configuration.mode == .development else { return .failure(AuthError("OPERATION_NOT_ALLOWED")) }
                do throws(AuthError) { return .success(try DevelopmentAssertion.identity(credential)) } catch { return .failure(error) }
            },
            send: { _ in true })
    }
    /// Signs with a ring of keys; makes unsigned tokens without one. A token that cannot be signed is empty: no verifier accepts it.
    private static func signing(_ ring: KeyRing?, _ log: Logger) -> @Sendable ([UInt8]) -> String {
        let signer = ring.map { TokenSigner($0) } ?? TokenSigner.unsigned
        return { payload in
            do throws(KeyRingError) { return try signer.sign(payload) } catch {
                log.error("a token could not be signed", metadata: ["reason": "\(error)"])
                return ""
            }
        }
    }
}
