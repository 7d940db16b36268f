import AccountNotices
import Accounts
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import IdentityProviders

/// The page that the links of mails lead to, over HTTP.
///
/// GET shows what a code is for and uses up nothing; the form of the page is posted to use it. Cookies are not involved: the code is the right.
extension AuthenticationFrontEnd {
    /// A request to the page, independent of its connection.
    private struct ActionCall {
        var query: FormText
        var page: ActionPage
        var isPosted: Bool
        var mode: String
        var secret: String
        var tenant: String
        /// The client's address, or its network.
        var clientAddress: String
        var links: LinkSource
    }

    /// Longer codes and names are none of the host's.
    private static var parameterBytesMax: Int { 256 }

    func serveAction(_ exchange: HTTPExchange, body: Span<UInt8>) {
        let isPosted = exchange.method == .post
        guard isPosted || exchange.method == .get || exchange.method == .head else { return refuse(exchange, Self.notFound) }
        let query = isPosted ? FormText(body.string()) : FormText(exchange.query.string())
        let languages = exchange.header("accept-language")?.string()
        loop.task { [self] in
            do throws(AuthError) {
                let page = ActionPage(
                    query, accepted: languages, application: service.settings.applicationName, authorizedDomains: try await authorizedDomains(),
                    isStrict: isStrict)
                await serveAction(exchange, query, page, isPosted: isPosted)
            } catch {
                refuse(exchange, error)
            }
        }
    }

    private func serveAction(_ exchange: HTTPExchange, _ query: FormText, _ page: ActionPage, isPosted: Bool) async {
        guard let mode = query["mode"], let secret = query["oobCode"], (query["tenantId"] ?? "").utf8.count <= Self.parameterBytesMax,
            1...Self.parameterBytesMax ~= secret.utf8.count
        else { return showAction(exchange, page.refusal(page.texts.invalidLink), status: .badRequest) }
        if mode == EmailCode.Purpose.EMAIL_SIGNIN.mode { return handOver(exchange, query, page) }
        let call = ActionCall(
            query: query, page: page, isPosted: isPosted, mode: mode, secret: secret, tenant: query["tenantId"] ?? "",
            clientAddress: "\(service.settings.proxies.customer(of: exchange))",
            links: LinkSource(
                base: base(of: exchange), language: query["lang"] ?? exchange.header("accept-language")?.string(), key: query["apiKey"]))
        do throws(AuthError) {
            let answer = try await answer(call)
            showAction(exchange, answer.page, status: answer.status)
        } catch {
            showAction(exchange, page.refusal(Self.reason(error, page.texts)), status: HTTPStatus(rawValue: error.status))
        }
    }

    /// Leads to the application, which finishes signing in with the code of the link.
    private func handOver(_ exchange: HTTPExchange, _ query: FormText, _ page: ActionPage) {
        guard let next = page.next, exchange.method != .post else {
            return showAction(exchange, page.refusal(page.texts.invalidLink), status: .badRequest)
        }
        let address = Self.adding(query, to: next)
        exchange.respond(HTTPStatus(rawValue: 303)) { fields in
            fields.field("Location", address)
            fields.field("Cache-Control", "no-store")
            fields.field("Referrer-Policy", "no-referrer")
        }
    }

    private func answer(_ call: ActionCall) async throws(AuthError) -> (page: HTMLPage, status: HTTPStatus) {
        let (secret, tenant) = (call.secret, call.tenant)
        let rules = try await rules(tenant)
        let code = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.code(secret, tenant: tenant) }
        guard code.purpose.mode == call.mode, let kind = code.purpose.noticeKind else { throw AuthError("INVALID_OOB_CODE") }
        let factor = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.factor(of: code, tenant: tenant)?.label }
        if code.factorID != nil, factor == nil { throw AuthError("INVALID_OOB_CODE") }
        func form(_ problem: String? = nil) -> HTMLPage {
            call.page.form(
                kind, mode: call.mode, secret: secret, code: code, factor: factor, tenant: tenant, policy: rules.passwordPolicy, problem: problem)
        }
        guard call.isPosted else { return (form(), .ok) }
        if code.purpose == .PASSWORD_RESET {
            let password = call.query["newPassword"] ?? ""
            do throws(AuthError) {
                try requireStrength(password, rules)
            } catch {
                return (form(call.page.texts.passwordTooWeak), .badRequest)
            }
            guard rules.allowsPassword else { throw AuthError("PASSWORD_LOGIN_DISABLED") }
            let hash = try await hash(password, client: call.clientAddress)
            _ = try await accounts.perform(on: loop) { store throws(AccountFailure) in
                try store.resetPassword(secret, hash: hash, tenant: tenant)
            }
        } else {
            _ = try await apply(secret, tenant: tenant, call.links)
        }
        return (call.page.done(kind), .ok)
    }

    /// The reason of an error, for users.
    private static func reason(_ error: AuthError, _ texts: PageTexts) -> String {
        switch error.code {
        case "TOO_MANY_ATTEMPTS_TRY_LATER": texts.tooManyAttempts
        case "EMAIL_EXISTS": texts.emailIsTaken
        case "UNAVAILABLE": texts.tryLater
        default: texts.invalidLink
        }
    }

    private func showAction(_ exchange: HTTPExchange, _ page: HTMLPage, status: HTTPStatus) {
        show(exchange, page, policy: page.policy(ancestors: "'none'", forms: "'self'"), status: status)
    }
}

extension EmailCode.Purpose {
    /// The mail with the code; nil for mails whose links do not end at the page.
    fileprivate var noticeKind: Notice.Kind? {
        switch self {
        case .PASSWORD_RESET: .passwordReset
        case .VERIFY_EMAIL: .verifyEmail
        case .VERIFY_AND_CHANGE_EMAIL: .changeEmail
        case .RECOVER_EMAIL: .recoverEmail
        case .REVERT_SECOND_FACTOR_ADDITION: .secondFactorAdded
        case .EMAIL_SIGNIN: nil
        }
    }
}
