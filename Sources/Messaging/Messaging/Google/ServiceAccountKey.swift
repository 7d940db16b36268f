import Crypto
import CryptoExtras
import HearthJSON

/// The key file of a service account, as Google's console gives it out (spec messaging 5.1).
public struct ServiceAccountKey: Sendable {
    /// Why a file cannot be used.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// One sentence that names the file.
        public let description: String
    }

    /// The project that the account belongs to, in whose name everything is sent.
    public let projectID: String
    let email: String
    let keyID: String
    /// Where access tokens are asked for.
    let tokenURL: String
    private let key: _RSA.Signing.PrivateKey

    /// - Parameter name: what the file is called in problems.
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
            throw Problem(description: "\(name) is not the key file of a service account: its \"type\" is another")
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

    /// What is exchanged for an access token (RFC 7523).
    ///
    /// - Parameter now: seconds since 1970.
    func assertion(scope: String, now: Int64) throws -> String {
        let header: JSONObject = ["alg": "RS256", "typ": "JWT", "kid": .string(keyID)]
        // Clocks differ by some seconds.
        let claims: JSONObject = [
            "iss": .string(email), "aud": .string(tokenURL), "scope": .string(scope), "iat": .int(now - 10), "exp": .int(now + 3590),
        ]
        return try SignedToken.make(header, claims) { text in
            try Array(key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }
}
