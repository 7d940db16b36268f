import Glibc
import JSON

/// ID tokens without a signature, as the Firebase emulators make them.
enum UnsignedToken {
    /// A token that is valid for an hour from now on.
    static func make(uid: String, project: String, claims: JSONObject) -> String {
        let now = Int64(time(nil))
        var all: JSONObject = [
            "sub": .string(uid), "user_id": .string(uid), "aud": .string(project), "iss": .string("https://securetoken.google.com/\(project)"),
            "iat": .int(now), "auth_time": .int(now), "exp": .int(now + 3600), "firebase": ["sign_in_provider": "custom", "identities": [:]],
        ]
        for (name, value) in claims { all[name] = value }
        return "\(encoded(["alg": "none", "typ": "JWT"])).\(encoded(.object(all)))."
    }

    /// Base64 with the alphabet for addresses, without padding (RFC 4648 section 5).
    private static func encoded(_ json: JSONValue) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in json.serialized() {
            (bits, count) = (bits << 8 | Int(byte), count + 8)
            while count >= 6 {
                count -= 6
                text.append(alphabet[bits >> count & 63])
            }
            bits &= (1 << count) - 1
        }
        if count > 0 { text.append(alphabet[bits << (6 - count) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }
}
