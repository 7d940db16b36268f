import HearthBytes
import HTTP
import HearthJSON

/// Installations and registrations as the client SDKs make them (spec messaging 6.2).
extension MessagingFrontEnd {
    private static let installationTokenSeconds: Int64 = 604_800

    func answerRegistration(_ exchange: HTTPExchange, _ route: MessagingRoute, _ body: Span<UInt8>) throws(MessagingError) {
        switch route {
        case .installations(let project):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            createInstallation(exchange, try publicProject(exchange, project), try Self.object(body))
        case .installationToken(let project, let fid):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            let project = try publicProject(exchange, project)
            try checkRefreshToken(exchange, fid, project)
            MessagingAnswer.json(exchange, .object(authToken(fid, project)))
        case .installation(let project, let fid):
            guard exchange.method == .delete else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "DELETE") }
            let project = try publicProject(exchange, project)
            try checkRefreshToken(exchange, fid, project)
            unregister(exchange, fid, project, mustExist: false)
        case .registrations(let project):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            try register(exchange, try installation(exchange, project), try Self.object(body))
        case .registration(let project, let name):
            let installation = try installation(exchange, project)
            guard name == installation.fid || name.hasPrefix("\(installation.fid):") else { throw .invalidCredential }
            switch exchange.method {
            case .patch: try register(exchange, installation, try Self.object(body))
            case .delete: unregister(exchange, name, installation.project, mustExist: true)
            default: MessagingAnswer.methodNotAllowed(exchange, allowed: "PATCH, DELETE")
            }
        default: MessagingAnswer.unknownPath(exchange)
        }
    }

    // MARK: Credentials of installations

    /// An installation that shows its own token.
    struct Installation {
        var fid: String
        var project: MessagingProject
    }

    /// Applications name the project by a key that everybody may know: it only must be there.
    private func publicProject(_ exchange: HTTPExchange, _ name: String) throws(MessagingError) -> MessagingProject {
        guard let project = service.project(name) else { throw .notPermitted("firebaseinstallations.installations.create", project: name) }
        let hasKey = (exchange.header("x-goog-api-key")?.count ?? 0) > 0 || QueryParameters(exchange.query)["key"]?.isEmpty == false
        guard hasKey else { throw MessagingError(.permissionDenied, "The request is missing a valid API key.") }
        return project
    }

    /// Who shows a token in `x-goog-firebase-installations-auth`.
    func installation(_ exchange: HTTPExchange, _ project: String) throws(MessagingError) -> Installation {
        let project = try publicProject(exchange, project)
        guard let header = exchange.header("x-goog-firebase-installations-auth") else { throw .unauthenticated }
        let text = header.string()
        let token = text.hasPrefix("FIS ") ? String(text.dropFirst(4)) : text
        guard let content = service.tokens.open(token, for: .installation) else { throw .invalidCredential }
        let parts = content.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 3, let ends = Int64(parts[0]), parts[1] == project.id else { throw .invalidCredential }
        guard ends * 1000 > embedded.clock.now else { throw .expiredCredential }
        return Installation(fid: String(parts[2]), project: project)
    }

    private func checkRefreshToken(_ exchange: HTTPExchange, _ fid: String, _ project: MessagingProject) throws(MessagingError) {
        guard let header = exchange.header("authorization"), header.count > 7 else { throw .unauthenticated }
        let text = header.string()
        let token = text.hasPrefix("FIS_v2 ") ? String(text.dropFirst(7)) : text
        guard service.tokens.open(token, for: .refresh) == "\(project.id)|\(fid)" else { throw .invalidCredential }
    }

    private func authToken(_ fid: String, _ project: MessagingProject) -> JSONObject {
        let ends = embedded.clock.now / 1000 + Self.installationTokenSeconds
        let token = service.tokens.seal("\(ends)|\(project.id)|\(fid)", for: .installation)
        return ["token": .string(token), "expiresIn": .string("\(Self.installationTokenSeconds)s")]
    }

    private func createInstallation(_ exchange: HTTPExchange, _ project: MessagingProject, _ body: JSONObject) {
        let wanted = body["fid"]?.string ?? ""
        let fid = RegistrationToken.isInstallationID(wanted) ? wanted : RandomText.installationID()
        let refresh = service.tokens.seal("\(project.id)|\(fid)", for: .refresh)
        MessagingAnswer.json(
            exchange,
            [
                "name": .string("projects/\(project.number)/installations/\(fid)"), "fid": .string(fid), "refreshToken": .string(refresh),
                "authToken": .object(authToken(fid, project)),
            ])
    }

    // MARK: Registrations

    /// A browser's registration, or a later one of the same installation.
    private func register(_ exchange: HTTPExchange, _ installation: Installation, _ body: JSONObject) throws(MessagingError) {
        guard let web = body["web"]?.object else { throw .field("web", "is required: the browser's push subscription") }
        let address = try Self.address(of: web)
        var registration = Registration(
            project: installation.project.id, platform: .web, package: web["origin"]?.string ?? Self.header(exchange, "origin") ?? "")
        registration.fid = installation.fid
        registration.address = address
        let project = installation.project
        embedded.ask(on: loop) { (result: Result<Device, MessagingError>) in
            MessagingAnswer.finish(
                exchange,
                result.map { device in
                    let name = "projects/\(project.id)/registrations/\(device.fid)"
                    return ["token": .string(device.token), "name": .string(name), "web": .object(web)]
                })
        } _: { [registration] writer, store throws(StoreFailure) in
            try writer.register(registration, store)
        }
    }

    private static func address(of web: JSONObject) throws(MessagingError) -> JSONObject {
        guard let endpoint = web["endpoint"]?.string, endpoint.hasPrefix("https://") || endpoint.hasPrefix("http://"),
            endpoint.utf8.count <= 2048
        else {
            throw .field("web.endpoint", "must be the URL of the browser's push service")
        }
        guard let key = web["p256dh"]?.string, WebPushSubscription.bytes(key)?.count == 65 else {
            throw .field("web.p256dh", "must be a public key of 65 bytes in base64url")
        }
        guard let secret = web["auth"]?.string, WebPushSubscription.bytes(secret)?.count == 16 else {
            throw .field("web.auth", "must be a secret of 16 bytes in base64url")
        }
        guard let own = web["applicationPubKey"]?.string, !own.isEmpty else {
            throw .field(
                "web.applicationPubKey",
                "is required: pass this server's VAPID public key as vapidKey to getToken; it cannot sign for the SDK's default key")
        }
        return [
            "endpoint": .string(endpoint), "p256dh": .string(key), "auth": .string(secret), "vapid": .string(own),
        ]
    }

    func unregister(_ exchange: HTTPExchange, _ name: String, _ project: MessagingProject, mustExist: Bool) {
        embedded.ask(on: loop) { (result: Result<Bool, MessagingError>) in
            if case .failure(let error) = result, error.kind != .unregistered || mustExist { return MessagingAnswer.refuse(exchange, error) }
            MessagingAnswer.json(exchange, .object(JSONObject()))
        } _: { writer, store throws(StoreFailure) in
            try writer.unregister(name, project: project.id, store)
        }
    }
}
