import AccountNotices
import Accounts
import HearthJSON
import HTTP
import IdentityProviders

/// The page that the links of mails lead to. It has no scripts: it shows what a code is for, and a form whose button uses it, so that programs that
/// only follow the links of mails use up nothing.
struct ActionPage {
    /// The path of the page and of its forms.
    static let path = "/__/auth/action"

    let texts: PageTexts
    /// The name of the application.
    let application: String
    /// The address to go on to; nil if there is none, or none that is authorized.
    let next: String?

    /// - Parameters:
    ///   - query: the parameters of the link, or of the form.
    ///   - accepted: the languages of the browser; the link's own counts more.
    init(_ query: FormText, accepted: String?, application: String, authorizedDomains: [String], isStrict: Bool) {
        let wanted = query["lang"].flatMap { $0.isEmpty ? nil : $0 }
        texts = PageTexts.of(wanted ?? accepted)
        self.application = application
        next = Self.next(query["continueUrl"], authorizedDomains: authorizedDomains, isStrict: isStrict)
    }

    /// The address to go on to, if it is one of the application.
    static func next(_ address: String?, authorizedDomains: [String], isStrict: Bool) -> String? {
        guard let address, let origin = WebOrigin(of: address), ["http", "https"].contains(origin.scheme) else { return nil }
        return !isStrict || origin.isIn(authorizedDomains) ? address : nil
    }

    // MARK: Pages

    /// The form that uses a code.
    ///
    /// - Parameters:
    ///   - mode: the name of the purpose in links.
    ///   - secret: the code itself.
    ///   - problem: the reason why the last attempt failed.
    func form(
        _ kind: Notice.Kind, mode: String, secret: String, code: AccountStore.StoredCode, factor: String?, tenant: String,
        policy: JSONObject?, problem: String? = nil
    ) -> HTMLPage {
        let step = texts.step(kind)
        var fields = [("mode", mode), ("oobCode", secret), ("lang", texts.language)]
        if !tenant.isEmpty { fields.append(("tenantId", tenant)) }
        if let next { fields.append(("continueUrl", next)) }
        var form = fields.map { "<input type=\"hidden\" name=\"\($0)\" value=\"\(HTMLPage.escaped($1))\">" }
        if kind == .passwordReset {
            // Programs that keep passwords find the account by this field.
            form.append("<input type=\"email\" name=\"email\" autocomplete=\"username\" value=\"\(HTMLPage.escaped(code.email))\" readonly hidden>")
            form.append(
                "<label>\(texts.newPassword) <input type=\"password\" name=\"newPassword\" autocomplete=\"new-password\" required autofocus></label>")
            form.append(requirements(policy))
        }
        let question = PageTexts.filled(
            step.question,
            ["APP_NAME": application, "EMAIL": code.email, "NEW_EMAIL": code.newEmail ?? "", "FACTOR": factor ?? ""])
        return page(
            step.title,
            """
            <p>\(HTMLPage.escaped(question))</p>
            \(problem.map { "<p role=\"alert\">\(HTMLPage.escaped($0))</p>" } ?? "")
            <form method="post" action="\(Self.path)">
            \(form.joined(separator: "\n"))
            <button>\(HTMLPage.escaped(step.button))</button>
            </form>
            """)
    }

    /// The requirements for a new password, as a list.
    private func requirements(_ policy: JSONObject?) -> String {
        let answer = PasswordRules.answer(policy)
        let options = answer["enforcementState"]?.string == "ENFORCE" ? answer["customStrengthOptions"] : nil
        var items = [PageTexts.filled(texts.lengthMin, ["COUNT": "\(max(options?["minPasswordLength"]?.int ?? 6, 6))"])]
        if let most = options?["maxPasswordLength"]?.int, most < 4096 { items.append(PageTexts.filled(texts.lengthMax, ["COUNT": "\(most)"])) }
        let kinds = [
            ("containsLowercaseCharacter", texts.lowercase), ("containsUppercaseCharacter", texts.uppercase),
            ("containsNumericCharacter", texts.digit), ("containsNonAlphanumericCharacter", texts.symbol),
        ]
        items += kinds.filter { options?[$0.0]?.bool == true }.map(\.1)
        let list = items.map { "<li>\(HTMLPage.escaped($0))</li>" }.joined()
        return "<p>\(HTMLPage.escaped(texts.passwordNeeds))</p><ul id=\"requirements\">\(list)</ul>"
    }

    /// The page after a code was used.
    func done(_ kind: Notice.Kind) -> HTMLPage {
        let step = texts.step(kind)
        let link = next.map { "<p><a id=\"continue\" href=\"\(HTMLPage.escaped($0))\">\(HTMLPage.escaped(texts.next))</a></p>" } ?? ""
        return page(step.title, "<p id=\"done\">\(HTMLPage.escaped(step.done))</p>\n\(link)")
    }

    /// A page that only says why nothing happens.
    func refusal(_ text: String) -> HTMLPage { page(application, "<p role=\"alert\">\(HTMLPage.escaped(text))</p>") }

    private func page(_ title: String, _ content: String) -> HTMLPage {
        HTMLPage(
            title: HTMLPage.escaped(title), language: texts.language,
            body: "<h1>\(HTMLPage.escaped(title))</h1>\n\(content)")
    }
}
