import AdminProtocol
public import HearthJSON

/// Accesses the users of a host, as its administrator.
public final class UsersClient {
    /// The identity of a user in a question.
    public enum Key: Sendable, Hashable {
        case uid(String)
        case email(String)
        case phone(String)
        /// The id that an identity provider has given.
        case linked(provider: String, id: String)
    }

    /// A page of users in the order of their ids.
    public struct Page: Sendable {
        public let users: [JSONObject]
        /// The token of the next page; nil at the end.
        public let next: String?
    }

    private let client: HostClient
    /// The tenant; nil for the project itself.
    private let tenant: String?
    private var knownProject: String?

    /// The most users of one request.
    public static let pageSizeMax = 1000

    /// Sends requests through `client`.
    public init(_ client: HostClient, tenant: String? = nil) {
        self.client = client
        self.tenant = tenant
    }

    // MARK: Reading

    /// The users that match one of the keys, without their hashes.
    public func find(_ keys: [Key]) throws(ClientFailure) -> [JSONObject] {
        var (uids, emails, phones, links): ([JSONValue], [JSONValue], [JSONValue], [JSONValue]) = ([], [], [], [])
        for key in keys {
            switch key {
            case .uid(let uid): uids.append(.string(uid))
            case .email(let email): emails.append(.string(email))
            case .phone(let phone): phones.append(.string(phone))
            case .linked(let provider, let id): links.append(["providerId": .string(provider), "rawId": .string(id)])
            }
        }
        let body: JSONObject = [
            "localId": .array(uids), "email": .array(emails), "phoneNumber": .array(phones), "federatedUserId": .array(links),
        ]
        return Self.users(try post("accounts:lookup", body)).map(Self.withoutHash)
    }

    /// A page of users.
    ///
    /// - Parameters:
    ///   - token: the token of the page; nil for the first one.
    ///   - size: from 1 to ``pageSizeMax``.
    ///   - hashes: whether the users have their password hashes, and the parameters of imported ones.
    public func page(after token: String?, size: Int, hashes: Bool) throws(ClientFailure) -> Page {
        var query = "?maxResults=\(min(size, Self.pageSizeMax))"
        if let token { query += "&nextPageToken=\(PercentCoding.encoded(token))" }
        if hashes { query += "&hashParameters=true" }
        let answer = try ask("GET", "accounts:batchGet\(query)")
        let users = Self.users(answer)
        return Page(users: hashes ? users : users.map(Self.withoutHash), next: answer["nextPageToken"]?.string)
    }

    private static func users(_ answer: JSONObject) -> [JSONObject] { (answer["users"]?.array ?? []).compactMap(\.object) }

    /// A hash is no part of an answer that a person or a script reads.
    private static func withoutHash(_ user: JSONObject) -> JSONObject {
        var user = user
        for name in ["passwordHash", "salt"] { user.removeValue(forKey: name) }
        return user
    }

    // MARK: Changing

    /// Creates a user. Returns its id.
    public func create(_ fields: JSONObject) throws(ClientFailure) -> String {
        guard let uid = try post("accounts", fields)["localId"]?.string else { throw client.isNoHost }
        return uid
    }

    /// Changes a user, whose id is the member `localId`.
    public func update(_ fields: JSONObject) throws(ClientFailure) { _ = try post("accounts:update", fields) }

    /// Deletes at most ``pageSizeMax`` users.
    public func delete(_ uids: [String]) throws(ClientFailure) {
        let answer = try post("accounts:batchDelete", ["localIds": .array(uids.map { .string($0) }), "force": true])
        if let message = answer["errors"]?[0]?["message"]?.string { throw ClientFailure(.refused(status: 400), message) }
    }

    /// Imports at most ``pageSizeMax`` users. Returns the refused ones by their positions, with the reasons.
    func importUsers(_ body: JSONObject) throws(ClientFailure) -> [(index: Int, reason: String)] {
        try post("accounts:batchCreate", body)["error"]?.array?.compactMap { entry in
            entry["index"]?.int.map { ($0, entry["message"]?.string ?? "refused") }
        } ?? []
    }

    // MARK: The inbox of development

    /// The codes of mails (`oobCodes`) and of text messages (`verificationCodes`), each list with the oldest first.
    public func inbox() throws(ClientFailure) -> (mails: [JSONObject], texts: [JSONObject]) {
        let place = "/emulator/v1/projects/\(PercentCoding.encoded(try project()))\(tenantPath)"
        func list(_ name: String) throws(ClientFailure) -> [JSONObject] {
            let answer = try client.send(HostRequest("GET", "\(place)/\(name)"))
            guard answer.status != 404 else {
                throw ClientFailure(
                    .refused(status: 404),
                    "the host at \(client.url) shows no codes: in production mode they are sent, and only auth.testHooks shows them, on its machine")
            }
            return (try object(answer)[name]?.array ?? []).compactMap(\.object)
        }
        return (try list("oobCodes"), try list("verificationCodes"))
    }

    // MARK: Requests

    private func post(_ operation: String, _ body: JSONObject) throws(ClientFailure) -> JSONObject { try ask("POST", operation, body) }

    private func ask(_ method: String, _ operation: String, _ body: JSONObject? = nil) throws(ClientFailure) -> JSONObject {
        let target = "/identitytoolkit.googleapis.com/v1/projects/\(PercentCoding.encoded(try project()))\(tenantPath)/\(operation)"
        var request = HostRequest(method, target)
        if let body {
            request.headers = [("Content-Type", "application/json")]
            request.body = .bytes(JSONValue.object(body).serialized())
        }
        return try object(try client.send(request))
    }

    private func object(_ answer: HostAnswer) throws(ClientFailure) -> JSONObject {
        let document = try? JSONValue(parsing: answer.body)
        guard answer.status < 400 else {
            guard [400, 404].contains(answer.status), let message = document?["error"]?["message"]?.string else { throw client.refusal(answer) }
            throw UserRefusal(message).failure(status: answer.status, tenant: tenant)
        }
        guard let object = document?.object else { throw client.isNoHost }
        return object
    }

    private var tenantPath: String { tenant.map { "/tenants/\(PercentCoding.encoded($0))" } ?? "" }

    private func project() throws(ClientFailure) -> String {
        if let knownProject { return knownProject }
        let project = try client.hostDescription().project
        knownProject = project
        return project
    }
}

/// A refusal of the protocol, such as `WEAK_PASSWORD : Password should be at least 6 characters`, with the remedy.
struct UserRefusal {
    private let code: String
    private let detail: String

    init(_ message: String) {
        let parts = message.split(separator: ":", maxSplits: 1)
        code = String(parts.first ?? "").trimmingSpaces
        detail = parts.count > 1 ? String(parts[1]).trimmingSpaces : ""
    }

    func failure(status: Int, tenant: String?) -> ClientFailure {
        var details: JSONObject = ["code": .string(code)]
        if !detail.isEmpty { details["detail"] = .string(detail) }
        return ClientFailure(.refused(status: status), sentence(tenant), details: .object(details))
    }

    private func sentence(_ tenant: String?) -> String {
        switch code {
        case "USER_NOT_FOUND": "there is no such user; hearth auth:list lists all"
        case "EMAIL_EXISTS": "another user has this e-mail; hearth auth:get --email finds that user"
        case "PHONE_NUMBER_EXISTS": "another user has this phone number; hearth auth:get --phone finds that user"
        case "DUPLICATE_LOCAL_ID": "another user has this uid; hearth auth:update changes that user"
        case "INVALID_EMAIL", "MISSING_EMAIL": "the e-mail is not valid; write one like ada@example.com"
        case "INVALID_PHONE_NUMBER": "the phone number is not valid; write it in the international form, such as +15555550100"
        case "WEAK_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS":
            "the password is refused (\(detail.isEmpty ? "it is too weak" : detail)); choose another one"
        case "INVALID_CLAIMS": "the claims are not a JSON object"
        case "FORBIDDEN_CLAIM": "the claim \(detail) is reserved; choose another name"
        case "CLAIMS_TOO_LARGE": "the claims have more than 1000 characters, which is the limit; keep such data in the database"
        case "TENANT_NOT_FOUND": "there is no tenant \(tenant ?? "of this name"); check --tenant"
        case "INVALID_ARGUMENT": "the host refuses: \(detail)"
        default: "the host refuses: \(code)\(detail.isEmpty ? "" : ": \(detail)")"
        }
    }
}

extension String {
    /// The text without spaces at its ends.
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
