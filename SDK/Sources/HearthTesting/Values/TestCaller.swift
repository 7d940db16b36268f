import Glibc
internal import HearthBytes
public import HearthFunctions
internal import HearthJSON

/// A user who has signed in.
public struct TestUser: Sendable, ExpressibleByStringLiteral {
    /// The user's id.
    public var uid: String
    /// Claims of the user's ID token, beside those that each token has.
    public var claims: JSONObject

    /// A user with claims of the token: `TestUser("ada", claims: ["admin": "true"])`.
    public init(_ uid: String, claims: JSONObject = [:]) {
        self.uid = uid
        self.claims = claims
    }

    /// The user with this id.
    public init(stringLiteral uid: String) { self.init(uid) }

    /// The claims of the user's ID token.
    func token(project: String) -> JSONValue {
        var token: JSONObject = [
            "iss": .string("https://securetoken.google.com/\(project)"), "aud": .string(project), "sub": .string(uid), "user_id": .string(uid),
            "iat": .int(TestTime.seconds - 10), "auth_time": .int(TestTime.seconds - 10), "exp": .int(TestTime.seconds + 3600),
            "firebase": ["sign_in_provider": "custom", "identities": [:]],
        ]
        for (name, value) in claims { token[name] = value }
        return .object(token)
    }
}

/// An app that App Check vouches for.
public struct TestAppCheck: Sendable, ExpressibleByStringLiteral {
    /// The app's id, such as "1:123:web:abc".
    public var appID: String

    /// An app by its id.
    public init(_ appID: String) { self.appID = appID }

    /// The app with this id.
    public init(stringLiteral appID: String) { self.init(appID) }

    /// The claims of the app's token.
    func token(project: String) -> JSONValue {
        [
            "iss": "https://firebaseappcheck.googleapis.com/123", "sub": .string(appID), "aud": ["projects/123", .string("projects/\(project)")],
            "iat": .int(TestTime.seconds - 10), "exp": .int(TestTime.seconds + 3600), "jti": .string("\(UInt64.random(in: 0 ... .max))"),
        ]
    }
}

/// Everything about a call beside its data.
struct TestCaller: Sendable {
    var auth: TestUser?
    var app: TestAppCheck?
    var instanceIDToken: String?
    var headers: Headers
}

/// A token without a signature, as emulators make them.
enum TestToken {
    static func text(_ claims: JSONValue) -> String {
        let head: JSONValue = ["alg": "none", "typ": "JWT"]
        return [head, claims].map { encoded($0.serialized()) }.joined(separator: ".") + "."
    }

    /// The claims of such a token; nil if it has another form.
    static func claims(_ text: String) -> JSONValue? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.bytes(Array(parts[1].utf8)[...]) else { return nil }
        return try? JSONValue(parsing: bytes)
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Base64 for URLs, without padding.
    private static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (16 - 8 * UInt32($1.offset)) }
            for index in 0...group.count { text.append(letters[Int(word >> (18 - 6 * UInt32(index))) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The time of day.
enum TestTime {
    static var seconds: Int64 { Int64(time(nil)) }

    /// The time in the form of RFC 3339.
    static var now: String {
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S.000Z", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
