import Accounts
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import IdentityProviders

/// The pages of sign-in over HTTP.
extension AuthenticationFrontEnd {
    /// Further accounts are not shown.
    private static var accountsMax: Int { 100 }

    /// Answers a request that ``AuthPath/isPage(_:)`` accepts.
    func servePage(_ exchange: HTTPExchange, body: Span<UInt8>) {
        guard let kind = SignInPages.kind(exchange.path.string(), isStrict: isStrict) else { return refuse(exchange, Self.notFound) }
        if kind == .action { return serveAction(exchange, body: body) }
        if kind == .handler, isStrict, exchange.method == .post { return leadBack(exchange, FormText(body.string())) }
        guard exchange.method == .get || exchange.method == .head else { return refuse(exchange, Self.notFound) }
        let text = exchange.query.string()
        loop.task { [self] in
            do throws(AuthError) {
                let domains = try await authorizedDomains()
                if kind == .frame { showFrame(exchange, domains) } else { showHandler(exchange, text, domains) }
            } catch {
                refuse(exchange, error)
            }
        }
    }

    private func showFrame(_ exchange: HTTPExchange, _ domains: [String]) {
        let ancestors = SignInPages.ancestors(authorizedDomains: domains, isStrict: isStrict)
        let page = SignInPages.frame
        show(exchange, page, policy: page.policy(ancestors: ancestors, scripts: "https://apis.google.com"))
    }

    private func showHandler(_ exchange: HTTPExchange, _ text: String, _ domains: [String]) {
        let query = FormText(text)
        guard !isStrict || SignInPages.isPlain(text) else { return refusePage(exchange, "a parameter is repeated") }
        // A provider's answer; its parameters are read by the script.
        let isAnswer = isStrict && query["providerId"] == nil
        let reason = SignInPages.refusal(
            query, authorizedDomains: domains, nativeApps: isStrict ? service.settings.nativeApps : nil, isStrict: isStrict)
        if !isAnswer, let reason { return refusePage(exchange, reason) }
        if isStrict {
            let page = SignInPages.handler
            return show(exchange, page, policy: page.policy(ancestors: "'none'"))
        }
        showWidget(exchange, query)
    }

    private func showWidget(_ exchange: HTTPExchange, _ query: FormText) {
        let provider = query["providerId"] ?? ""
        let tenant = [query["tid"], query["tenantId"]].compactMap { $0 }.first { !$0.isEmpty } ?? ""
        // A page that resolves its own name to this machine's address must not read e-mails.
        let host = WebOrigin(of: "http://\(exchange.host.string())")?.host ?? ""
        guard LoopbackName.matches(host) else {
            let page = SignInPages.widget(provider: provider, accounts: [])
            return show(exchange, page, policy: page.policy(ancestors: "'none'"))
        }
        loop.task { [self] in
            do throws(AuthError) {
                let count = Self.accountsMax
                let linked = try await accounts.read(on: loop) { store throws(AccountFailure) in
                    try store.linkedAccounts(of: provider, tenant: tenant, limit: count)
                }
                let page = SignInPages.widget(provider: provider, accounts: linked)
                show(exchange, page, policy: page.policy(ancestors: "'none'"))
            } catch {
                refuse(exchange, error)
            }
        }
    }

    /// Turns the posted answer of a provider (Apple) into an address of the handler, whose script reads it.
    private func leadBack(_ exchange: HTTPExchange, _ form: FormText) {
        let names = ["state", "code", "id_token", "user", "error"]
        let pairs = names.compactMap { name in form[name].map { "\(name)=\(FormText.encoded($0))" } }
        let address = "/__/auth/handler?\(pairs.joined(separator: "&"))"
        guard form["state"] != nil, address.utf8.count <= 16_384 else { return refusePage(exchange, "this is not a provider's answer") }
        exchange.respond(HTTPStatus(rawValue: 303)) { fields in
            fields.field("Location", address)
            fields.field("Cache-Control", "no-store")
            fields.field("Referrer-Policy", "no-referrer")
        }
    }

    private func refusePage(_ exchange: HTTPExchange, _ reason: String) {
        // Development answers as the emulator does.
        let error: JSONValue =
            isStrict
            ? ["error": ["code": 400, "message": .string(reason), "status": "INVALID_ARGUMENT"]] : ["authEmulator": ["error": .string(reason)]]
        let body = error.serialized()
        exchange.respond(.badRequest, body: body.span) { fields in
            fields.field("Content-Type", "application/json; charset=UTF-8")
            fields.field("X-Content-Type-Options", "nosniff")
        }
    }

    func show(_ exchange: HTTPExchange, _ page: HTMLPage, policy: String, status: HTTPStatus = .ok) {
        exchange.respond(status, body: Array(page.text.utf8).span) { fields in
            fields.field("Content-Type", "text/html; charset=utf-8")
            fields.field("Content-Security-Policy", policy)
            fields.field("X-Content-Type-Options", "nosniff")
            // Addresses of these pages hold codes and tokens.
            fields.field("Referrer-Policy", "no-referrer")
            fields.field("Cache-Control", "no-store")
        }
    }
}
