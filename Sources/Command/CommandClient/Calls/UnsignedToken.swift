import HearthBytes
import Glibc
import HearthJSON

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

    private static func encoded(_ json: JSONValue) -> String { Base64URL.text(json.serialized()) }
}
