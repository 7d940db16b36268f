import Crypto
import CryptoExtras
import HearthJSON

/// The key file of a service account, as downloaded from Google's console (spec messaging 5.1).
public struct ServiceAccountKey: Sendable {
    /// The reason why a file cannot be used.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// One sentence that names the file.
        public let description: String
    }

    /// The project of the account, which all messages are sent for.
    public let projectID: String
    let email: String
    let keyID: String
    /// The endpoint for access tokens.
    let tokenURL: String
    private let key: _RSA.Signing.PrivateKey

    /// - Parameter name: the name of the file in error messages.
    public init(parsing text: [UInt8], name: String) throws(Problem) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: text)
        } catch {
            throw Problem(description: "\(name) is not JSON: \(error.explanation(in: text.span))")
        }
        func member(_ name: String, of file: String) throws(Problem) -> String {
            guard let value = json[name]?.string, !value.isEmpty else {
                throw Problem(description: "\(file) has no \"\(name)\"; it must be the key file of a service account")
            }
            return value
        }
        guard json["type"]?.string == "service_account" else {
            throw Problem(description: "\(name) is not the key file of a service account: its \"type\" is not \"service_account\"")
        }
        projectID = try member("project_id", of: name)
        email = try member("client_email", of: name)
        keyID = json["private_key_id"]?.string ?? ""
        tokenURL = json["token_uri"]?.string ?? "https://oauth2.googleapis.com/token"
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: try member("private_key", of: name)) else {
            throw Problem(description: "the \"private_key\" of \(name) is not an RSA key in PEM")
        }
        self.key = key
    }

    /// Makes the assertion that is exchanged for an access token (RFC 7523).
    ///
    /// - Parameter now: seconds since 1970.
    func assertion(scope: String, now: Int64) throws -> String {
        let header: JSONObject = ["alg": "RS256", "typ": "JWT", "kid": .string(keyID)]
        // Allows for clocks that differ by some seconds.
        let claims: JSONObject = [
            "iss": .string(email), "aud": .string(tokenURL), "scope": .string(scope), "iat": .int(now - 10), "exp": .int(now + 3590),
        ]
        return try SignedToken.make(header, claims) { text in
            try Array(key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }
}
