import ArgumentParser
import CommandClient
import Glibc
import HearthJSON

/// `hearth auth:list`: lists users.
struct AuthList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:list", abstract: "Lists the users of a host in the order of their ids.",
        discussion: """
            Examples:
              hearth auth:list
              hearth auth:list --limit 1000 --json
              hearth auth:list --after kZ3nM2pQ
            """)

    @Option(help: ArgumentHelp("Begin after this uid.", valueName: "uid"))
    var after: String?

    @OptionGroup var length: ListLength
    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let users = tenant.users(client)
        var (found, token): ([JSONObject], String?) = ([], after)
        repeat {
            let page = try users.page(after: token, size: length.limit - found.count + 1, hashes: false)
            found += page.users
            token = page.next
        } while token != nil && found.count <= length.limit
        let hasMore = found.count > length.limit
        found = Array(found.prefix(length.limit))
        return length.outcome(
            found.map(UserText.row), heading: UserText.heading, none: "No users.",
            json: ["users": .array(found.map { .object($0) }), "hasMore": .bool(hasMore)])
    }
}

/// `hearth auth:get`: shows a user.
struct AuthGet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:get", abstract: "Shows a user.",
        discussion: """
            Examples:
              hearth auth:get kZ3nM2pQ
              hearth auth:get --email ada@example.com --json
              hearth auth:get --provider facebook.com --provider-uid 1234567890
            """)

    @Argument(help: ArgumentHelp("The user's id.", valueName: "uid"))
    var uid: String?

    @Option(help: ArgumentHelp("The user with this e-mail.", valueName: "e-mail"))
    var email: String?

    @Option(help: ArgumentHelp("The user with this phone number.", valueName: "number"))
    var phone: String?

    @Option(help: ArgumentHelp("An identity provider, with --provider-uid.", valueName: "provider"))
    var provider: String?

    @Option(help: ArgumentHelp("The user with this id at the provider.", valueName: "id"))
    var providerUid: String?

    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    private var keys: [(key: UsersClient.Key, words: String)] {
        var keys: [(UsersClient.Key, String)] = []
        if let uid { keys.append((.uid(uid), "the uid \(uid)")) }
        if let email { keys.append((.email(email), "the e-mail \(email)")) }
        if let phone { keys.append((.phone(phone), "the phone number \(phone)")) }
        if let provider, let providerUid { keys.append((.linked(provider: provider, id: providerUid), "the id \(providerUid) at \(provider)")) }
        return keys
    }

    func validate() throws {
        if (provider == nil) != (providerUid == nil) { throw ValidationError("--provider and --provider-uid need each other") }
        guard keys.count == 1 else {
            throw ValidationError(
                keys.isEmpty
                    ? "name the user: a uid, --email, --phone, or --provider with --provider-uid" : "name the user in one way only")
        }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        guard let (key, words) = keys.first else { return Outcome(isSuccess: false) }
        guard let user = try tenant.users(client).find([key]).first else {
            throw ClientFailure(.refused(status: 404), "there is no user with \(PrintableText.line(words)); hearth auth:list lists all")
        }
        return Outcome(text: UserText.lines(user).joined(separator: "\n"), json: .object(user))
    }
}

/// `hearth auth:create`: creates a user.
struct AuthCreate: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:create", abstract: "Creates a user, and prints the uid.",
        discussion: """
            Examples:
              hearth auth:create --email ada@example.com --verified --password
              hearth auth:create --uid ada --phone +15555550100 --claims '{admin: true}'
            """)

    @Option(help: ArgumentHelp("The id. (default: a new one)", valueName: "uid"))
    var uid: String?

    @OptionGroup var properties: UserProperties
    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let users = tenant.users(client)
        let claims = try properties.claimsText()
        var fields = try properties.fields(nameOfDisabled: "disabled")
        fields["localId"] = uid.map { .string($0) }
        let made = try users.create(fields)
        if let claims {
            do throws(ClientFailure) {
                try users.update(["localId": .string(made), "customAttributes": .string(claims)])
            } catch {
                throw ClientFailure(
                    error.kind, "the user \(PrintableText.line(made)) is created without the claims: \(error.message)", details: error.details)
            }
        }
        return Outcome(text: PrintableText.line(made), json: ["uid": .string(made)])
    }
}

/// `hearth auth:update`: changes a user.
struct AuthUpdate: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:update", abstract: "Changes a user: profile, password, custom claims, disabling, sessions.",
        discussion: """
            Only the named properties change. --revoke ends all sessions: the user signs in again when the current ID token expires, at \
            the latest after an hour. In development mode refresh tokens go on, as those of the emulator.

            Examples:
              hearth auth:update kZ3nM2pQ --email ada@example.com --verified
              hearth auth:update kZ3nM2pQ --claims '{admin: true}'
              hearth auth:update kZ3nM2pQ --password < new-password
              hearth auth:update kZ3nM2pQ --disabled --revoke
              hearth auth:update kZ3nM2pQ --remove phone --remove facebook.com
            """)

    /// The removable properties, with the request's field and the name in it.
    private static let removable: [String: (field: String, name: String)] = [
        "name": ("deleteAttribute", "DISPLAY_NAME"), "photo": ("deleteAttribute", "PHOTO_URL"), "phone": ("deleteProvider", "phone"),
        "password": ("deleteAttribute", "PASSWORD"), "email": ("deleteAttribute", "EMAIL"),
    ]

    @Argument(help: ArgumentHelp("The user's id.", valueName: "uid"))
    var uid: String

    @OptionGroup var properties: UserProperties

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Remove name, photo, phone, password, email, claims, factors, or a linked provider such as facebook.com; may be repeated.",
            valueName: "property"))
    var remove: [String] = []

    @Flag(help: "End all sessions of the user.")
    var revoke = false

    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        for name in remove where Self.removable[name] == nil && name != "claims" && name != "factors" && !name.contains(".") {
            throw ValidationError("--remove takes name, photo, phone, password, email, claims, factors, or a provider such as facebook.com")
        }
        if remove.contains("claims"), properties.claims != nil { throw ValidationError("--claims and --remove claims exclude each other") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        var fields = try properties.fields(nameOfDisabled: "disableUser")
        if let claims = try properties.claimsText() { fields["customAttributes"] = .string(claims) }
        var (attributes, providers): ([JSONValue], [JSONValue]) = ([], [])
        for name in remove {
            switch name {
            case "claims": fields["customAttributes"] = "{}"
            case "factors": fields["mfa"] = ["enrollments": []]
            default:
                let (field, removed) = Self.removable[name] ?? ("deleteProvider", name)
                if field == "deleteProvider" { providers.append(.string(removed)) } else { attributes.append(.string(removed)) }
            }
        }
        if !attributes.isEmpty { fields["deleteAttribute"] = .array(attributes) }
        if !providers.isEmpty { fields["deleteProvider"] = .array(providers) }
        if revoke { fields["validSince"] = .string(String(Int(Glibc.time(nil)))) }
        guard !fields.isEmpty else {
            throw ClientFailure(.invalidInput, "nothing is to be changed; hearth auth:update --help lists the properties")
        }
        fields["localId"] = .string(uid)
        let users = tenant.users(client)
        try users.update(fields)
        guard let user = try users.find([.uid(uid)]).first else {
            throw ClientFailure(.refused(status: 404), "the user \(PrintableText.line(uid)) was deleted meanwhile")
        }
        return Outcome(text: "The user \(PrintableText.line(uid)) is changed", json: .object(user))
    }
}

/// `hearth auth:delete`: deletes users.
struct AuthDelete: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:delete", abstract: "Deletes users with their sessions.",
        discussion: """
            If one of the users does not exist, none is deleted.

            Examples:
              hearth auth:delete kZ3nM2pQ
              hearth auth:delete ada bob --force
            """)

    @Argument(help: ArgumentHelp("The users' ids.", valueName: "uid"))
    var uids: [String]

    @OptionGroup var force: ForceOption
    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if uids.count > UsersClient.pageSizeMax { throw ValidationError("at most \(UsersClient.pageSizeMax) users are deleted at once") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let users = tenant.users(client)
        let known = Set(try users.find(uids.map { .uid($0) }).compactMap { $0["localId"]?.string })
        if let unknown = uids.first(where: { !known.contains($0) }) {
            throw ClientFailure(.refused(status: 404), "there is no user with the uid \(PrintableText.line(unknown)); nothing was deleted")
        }
        let words = known.count == 1 ? "the user \(PrintableText.line(uids[0]))" : "\(known.count) users"
        try force.confirm("delete \(words) of \(client.url)")
        try users.delete(uids)
        return Outcome(
            text: known.count == 1 ? "The user \(PrintableText.line(uids[0])) is deleted" : "\(known.count) users are deleted",
            json: ["deleted": .array(known.sorted().map { .string($0) })])
    }
}
