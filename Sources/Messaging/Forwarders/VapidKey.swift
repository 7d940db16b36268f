import Bytes
public import Crypto
import Glibc
import JSON
import Synchronization

/// Who this server is to the push services of browsers (RFC 8292). Browsers subscribe with its public key.
public final class VapidKey: Sendable {
    /// Why there is none.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// One sentence that names the file.
        public let description: String
    }

    /// How long a token is good for, in seconds; the RFC allows a day.
    private static let tokenSeconds: Int64 = 43_200
    /// Tokens that are kept, one for each push service.
    private static let tokensMax = 64

    private struct Token {
        var text: String
        var expires: Int64
    }

    private let key: P256.Signing.PrivateKey
    private let subject: String
    private let tokens = Mutex<[String: Token]>([:])

    /// - Parameter subject: whom a push service can write to: a `mailto:` or `https:` address.
    public init(_ key: P256.Signing.PrivateKey, subject: String) {
        self.key = key
        self.subject = subject
    }

    /// The key in `file`, which is made with mode 0600 where there is none. Blocks.
    public convenience init(file: String, subject: String) throws(Problem) {
        if let text = try Self.contents(of: file) {
            guard let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
                throw Problem(description: "\(file) holds no private key of P-256 in PEM; move it away, and a new one is made")
            }
            self.init(key, subject: subject)
        } else {
            let key = P256.Signing.PrivateKey()
            try Self.write(key.pemRepresentation + "\n", to: file)
            self.init(key, subject: subject)
        }
    }

    /// What pages pass as `vapidKey` or `applicationServerKey`.
    public var publicKey: String { Base64URL.text(Array(key.publicKey.x963Representation)) }

    /// The header that a push service wants, for a subscription at `origin`.
    ///
    /// - Parameters:
    ///   - origin: scheme, host and port of the subscription's address.
    ///   - now: seconds since 1970.
    func authorization(for origin: String, now: Int64) throws -> String {
        let token = try tokens.withLock { tokens in
            // Half of its time is left for the message's way.
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

    // MARK: The file

    private static func contents(of file: String) throws(Problem) -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Problem(description: "\(file) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var room = [UInt8](repeating: 0, count: 8192)
        let count = read(descriptor, &room, room.count)
        return String(decoding: room.prefix(max(0, count)), as: UTF8.self)
    }

    private static func write(_ text: String, to file: String) throws(Problem) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Problem(description: "\(file) cannot be written: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(file)
            throw Problem(description: "\(file) cannot be written: \(reason)")
        }
    }
}
