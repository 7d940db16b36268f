import HearthBytes
import HTTP
import HearthJSON

/// Installations and registrations of the client SDKs (spec messaging 6.2).
extension MessagingFrontEnd {
    private static let installationTokenSeconds: Int64 = 604_800

    func answerRegistration(_ exchange: HTTPExchange, _ route: MessagingRoute, _ body: Span<UInt8>) throws(MessagingError) {
        switch route {
        case .installations(let project):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            try createInstallation(exchange, try publicProject(exchange, project), try Self.object(body))
        case .installationToken(let project, let fid):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            renew(exchange, try refreshed(exchange, fid, try publicProject(exchange, project)))
        case .installation(let project, let fid):
            guard exchange.method == .delete else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "DELETE") }
            let installation = try refreshed(exchange, fid, try publicProject(exchange, project))
            unregister(exchange, fid, installation.project, owner: installation.owner, mustExist: false)
        case .registrations(let project):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            try register(exchange, try installation(exchange, project), try Self.object(body))
        case .registration(let project, let name):
            let installation = try installation(exchange, project)
            guard name == installation.fid || name.hasPrefix("\(installation.fid):") else { throw .invalidCredential }
            switch exchange.method {
            case .patch: try register(exchange, installation, try Self.object(body))
            case .delete: unregister(exchange, name, installation.project, owner: installation.owner, mustExist: true)
            default: MessagingAnswer.methodNotAllowed(exchange, allowed: "PATCH, DELETE")
            }
        default: MessagingAnswer.unknownPath(exchange)
        }
    }

    // MARK: Credentials of installations

    /// An installation that has presented its token.
    struct Installation: Sendable {
        var fid: String
        var project: MessagingProject
        /// A random text in all its tokens. An installation's id is not secret, because registration tokens begin with it. Tokens that another
        /// caller requests for the same id have another owner.
        var owner: String
    }

    /// The project of a request. Applications present a public key, which only has to be present.
    private func publicProject(_ exchange: HTTPExchange, _ name: String) throws(MessagingError) -> MessagingProject {
        guard let project = service.project(name) else { throw .notPermitted("firebaseinstallations.installations.create", project: name) }
        let hasKey = (exchange.header("x-goog-api-key")?.count ?? 0) > 0 || QueryParameters(exchange.query)["key"]?.isEmpty == false
        guard hasKey else { throw MessagingError(.permissionDenied, "The request is missing a valid API key.") }
        return project
    }

    /// The installation whose token is in `x-goog-firebase-installations-auth`.
    func installation(_ exchange: HTTPExchange, _ project: String) throws(MessagingError) -> Installation {
        let project = try publicProject(exchange, project)
        guard let header = exchange.header("x-goog-firebase-installations-auth") else { throw .unauthenticated }
        let text = header.string()
        let token = text.hasPrefix("FIS ") ? String(text.dropFirst(4)) : text
        guard let content = service.tokens.open(token, for: .installation) else { throw .invalidCredential }
        let parts = content.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 4, let ends = Int64(parts[0]), parts[1] == project.id else { throw .invalidCredential }
        guard ends * 1000 > embedded.clock.now else { throw .expiredCredential }
        return Installation(fid: String(parts[2]), project: project, owner: String(parts[3]))
    }

    /// The installation whose refresh token for `fid` is in `authorization`.
    private func refreshed(_ exchange: HTTPExchange, _ fid: String, _ project: MessagingProject) throws(MessagingError) -> Installation {
        guard let header = exchange.header("authorization"), header.count > 7 else { throw .unauthenticated }
        let text = header.string()
        let token = text.hasPrefix("FIS_v2 ") ? String(text.dropFirst(7)) : text
        let parts = (service.tokens.open(token, for: .refresh) ?? "").split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == project.id, parts[1] == fid else { throw .invalidCredential }
        return Installation(fid: fid, project: project, owner: String(parts[2]))
    }

    private func authToken(_ installation: Installation) -> JSONObject {
        let ends = embedded.clock.now / 1000 + Self.installationTokenSeconds
        let token = service.tokens.seal("\(ends)|\(installation.project.id)|\(installation.fid)|\(installation.owner)", for: .installation)
        return ["token": .string(token), "expiresIn": .string("\(Self.installationTokenSeconds)s")]
    }

    /// Creates an installation with the requested id, unless a device has it; then with another id, which SDKs adopt. A caller with the refresh
    /// token of an id gets this id again.
    private func createInstallation(_ exchange: HTTPExchange, _ project: MessagingProject, _ body: JSONObject) throws(MessagingError) {
        let wanted = body["fid"]?.string ?? ""
        var wish: Installation?
        if RegistrationToken.isInstallationID(wanted) {
            let showsToken = Self.header(exchange, "authorization")?.hasPrefix("FIS_v2 ") == true
            let proven = showsToken ? try refreshed(exchange, wanted, project) : nil
            wish = proven ?? Installation(fid: wanted, project: project, owner: RandomText.letters(22))
        }
        let other = Installation(fid: RandomText.installationID(), project: project, owner: RandomText.letters(22))
        ask(exchange) { [wish] writer, store throws(StoreFailure) in
            guard let wish else { return .success(other) }
            return .success(try writer.mayChange(wish.fid, owner: wish.owner, try store.device(fid: wish.fid), store) ? wish : other)
        } _: { [self] installation in
            let (project, fid) = (installation.project, installation.fid)
            return [
                "name": .string("projects/\(project.number)/installations/\(fid)"), "fid": .string(fid),
                "refreshToken": .string(service.tokens.seal("\(project.id)|\(fid)|\(installation.owner)", for: .refresh)),
                "authToken": .object(authToken(installation)),
            ]
        }
    }

    /// Makes a new token for an installation. Refused if the id belongs to another one by now: SDKs then create a new installation.
    private func renew(_ exchange: HTTPExchange, _ installation: Installation) {
        ask(exchange) { writer, store throws(StoreFailure) in
            let device = try store.device(fid: installation.fid)
            guard try writer.mayChange(installation.fid, owner: installation.owner, device, store) else { return .failure(.invalidCredential) }
            return .success(installation)
        } _: { [self] in .object(authToken($0)) }
    }

    // MARK: Registrations

    /// Registers a browser, or updates the registration of its installation.
    private func register(_ exchange: HTTPExchange, _ installation: Installation, _ body: JSONObject) throws(MessagingError) {
        guard let web = body["web"]?.object else { throw .field("web", "is required: the browser's push subscription") }
        let address = try Self.address(of: web)
        var registration = Registration(
            project: installation.project.id, platform: .web,
            package: try DeviceFields.package(web["origin"]?.string ?? Self.header(exchange, "origin") ?? "", "web.origin"))
        registration.fid = installation.fid
        registration.owner = installation.owner
        registration.isAnonymous = true
        registration.address = address
        let project = installation.project
        let answered = Self.web(registration.package, address)
        ask(exchange) { [registration] writer, store throws(StoreFailure) in
            try writer.register(registration, store)
        } _: { device in
            ["token": .string(device.token), "name": .string("projects/\(project.id)/registrations/\(device.fid)"), "web": answered]
        }
    }

    /// The fields of a browser's registration in the form of the answer.
    private static func web(_ origin: String, _ address: JSONObject) -> JSONValue {
        var web: JSONObject = ["origin": .string(origin)]
        for (name, value) in address { web[name == "vapid" ? "applicationPubKey" : name] = value }
        return .object(web)
    }

    private static func address(of web: JSONObject) throws(MessagingError) -> JSONObject {
        guard let endpoint = web["endpoint"]?.string, endpoint.hasPrefix("https://") || endpoint.hasPrefix("http://"),
            endpoint.utf8.count <= DeviceFields.endpointBytesMax
        else {
            throw .field("web.endpoint", "must be the URL of the browser's push service")
        }
        guard let key = web["p256dh"]?.string, key.utf8.count <= DeviceFields.keyBytesMax, WebPushSubscription.bytes(key)?.count == 65 else {
            throw .field("web.p256dh", "must be a public key of 65 bytes in base64url")
        }
        guard let secret = web["auth"]?.string, secret.utf8.count <= DeviceFields.keyBytesMax, WebPushSubscription.bytes(secret)?.count == 16 else {
            throw .field("web.auth", "must be a secret of 16 bytes in base64url")
        }
        guard let own = web["applicationPubKey"]?.string, !own.isEmpty else {
            throw .field(
                "web.applicationPubKey",
                "is required: pass this server's VAPID public key as vapidKey to getToken; it cannot sign for the SDK's default key")
        }
        guard own.utf8.count <= DeviceFields.keyBytesMax else {
            throw .field("web.applicationPubKey", "must have at most \(DeviceFields.keyBytesMax) bytes")
        }
        return [
            "endpoint": .string(endpoint), "p256dh": .string(key), "auth": .string(secret), "vapid": .string(own),
        ]
    }

    /// - Parameter owner: the installation that makes the request; nil for a caller who may change every device.
    func unregister(_ exchange: HTTPExchange, _ name: String, _ project: MessagingProject, owner: String? = nil, mustExist: Bool) {
        embedded.ask(on: loop, limitedBy: owner == nil ? nil : proxies.customer(of: exchange)) { (result: Result<Bool, MessagingError>) in
            if case .failure(let error) = result, error.kind != .unregistered || mustExist { return MessagingAnswer.refuse(exchange, error) }
            MessagingAnswer.json(exchange, .object(JSONObject()))
        } _: { writer, store throws(StoreFailure) in
            try writer.unregister(name, project: project.id, owner: owner, store)
        }
    }

    /// Asks the store on behalf of an anonymous caller, within the rate limit.
    private func ask<Value: Sendable>(
        _ exchange: HTTPExchange,
        _ question: @escaping @Sendable (MessagingWriter, MessagingStore) throws(StoreFailure) -> Result<Value, MessagingError>,
        _ answer: @escaping (Value) -> JSONValue
    ) {
        embedded.ask(
            on: loop, limitedBy: proxies.customer(of: exchange),
            { (result: Result<Value, MessagingError>) in MessagingAnswer.finish(exchange, result.map(answer)) }, question)
    }
}

/// Limits for the fields of a registration, because anonymous callers can write them to the disk.
enum DeviceFields {
    /// The limit for a package, bundle or origin.
    static let packageBytesMax = 255
    /// The limit for the name that a user gives a device, in Unicode scalars, because a character can have any length.
    static let nameScalarsMax = 200
    /// The limit for the URL of a browser's push service.
    static let endpointBytesMax = 2048
    /// The limit for a public key or a secret in base64url.
    static let keyBytesMax = 200

    /// The name, cut to its limit.
    static func name(_ text: String) -> String { String(String.UnicodeScalarView(text.unicodeScalars.prefix(nameScalarsMax))) }

    /// - Parameter field: the name of the field in errors.
    static func package(_ text: String, _ field: String) throws(MessagingError) -> String {
        guard text.utf8.count <= packageBytesMax else { throw .field(field, "must have at most \(packageBytesMax) bytes") }
        return text
    }
}
