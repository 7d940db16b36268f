import HearthBytes
public import Crypto
import Files
import HearthJSON
import Synchronization

/// The key of this server for the push services of browsers (RFC 8292). Browsers subscribe with its public key.
public final class VapidKey: Sendable {
    /// The reason why a key cannot be used.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// One sentence that names the file.
        public let description: String
    }

    /// The validity of a token in seconds. The RFC allows a day.
    private static let tokenSeconds: Int64 = 43_200
    /// The most cached tokens; each is for one push service.
    private static let tokensMax = 64

    private struct Token {
        var text: String
        var expires: Int64
    }

    private let key: P256.Signing.PrivateKey
    private let subject: String
    private let tokens = Mutex<[String: Token]>([:])

    /// - Parameter subject: a contact for push services: a `mailto:` or `https:` address.
    public init(_ key: P256.Signing.PrivateKey, subject: String) {
        self.key = key
        self.subject = subject
    }

    /// Reads the key in `file`, or creates the file with mode 0600. Blocks.
    public convenience init(file: String, subject: String) throws(Problem) {
        let text: [UInt8]?
        do throws(FileFailure) {
            text = try DurableFile.kept(file, sizeBytesMax: 8192, mode: 0o600) { Array("\(P256.Signing.PrivateKey().pemRepresentation)\n".utf8) }
        } catch {
            throw Problem(description: "\(file) \(error)")
        }
        guard let text, let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: text, as: UTF8.self)) else {
            throw Problem(description: "\(file) holds no private key of P-256 in PEM; move it away, and a new one is made")
        }
        self.init(key, subject: subject)
    }

    /// The public key that pages pass as `vapidKey` or `applicationServerKey`.
    public var publicKey: String { Base64URL.text(Array(key.publicKey.x963Representation)) }

    /// The value of the `Authorization` header for a subscription at `origin`.
    ///
    /// - Parameters:
    ///   - origin: the scheme, host and port of the subscription's address.
    ///   - now: seconds since 1970.
    func authorization(for origin: String, now: Int64) throws -> String {
        let token = try tokens.withLock { tokens in
            // A token is reused during the first half of its validity, so that it does not expire before the push service checks it.
            if let token = tokens[origin], token.expires - now > Self.tokenSeconds / 2 { return token.text }
            let expires = now + Self.tokenSeconds
            let text = try SignedToken.make(
                header: ["typ": "JWT"], claims: ["aud": .string(origin), "exp": .int(expires), "sub": .string(subject)], key: key)
            if tokens.count >= Self.tokensMax { tokens.removeAll() }
            tokens[origin] = Token(text: text, expires: expires)
            return text
        }
        return "vapid t=\(token), k=\(publicKey)"
    }
}
