import Accounts
import HearthJSON
import HTTP
import IdentityProviders

/// The pages that browsers open for signing in with a popup or a redirect (spec auth 2.3).
///
/// The texts of a page do not depend on the request, except for the accounts of the widget, which are escaped.
enum SignInPages {
    enum Kind: Equatable {
        case handler
        case frame
        /// The page that the links of mails lead to.
        case action
    }

    /// The page of a path; nil if it names none.
    ///
    /// - Parameter isStrict: whether the paths of the emulator are left out.
    static func kind(_ path: String, isStrict: Bool) -> Kind? {
        switch path {
        case "/__/auth/handler": .handler
        case "/__/auth/iframe": .frame
        case ActionPage.path: .action
        case "/emulator/auth/handler" where !isStrict: .handler
        case "/emulator/auth/iframe" where !isStrict: .frame
        default: nil
        }
    }

    /// Whether a browser's script and this host read the same parameters from a query: of two with the same name they take different ones.
    static func isPlain(_ query: String) -> Bool {
        query.utf8.split(separator: UInt8(ascii: "&")).count == FormText(query).values.count
    }

    /// The reason why a page does not begin a sign-in; nil if it does.
    ///
    /// - Parameter nativeApps: the ids of native applications that may get the result of a sign-in; nil for all.
    static func refusal(_ query: FormText, authorizedDomains: [String], nativeApps: [String]?, isStrict: Bool) -> String? {
        guard query["apiKey"]?.isEmpty == false, query["providerId"]?.isEmpty == false else {
            return "missing apiKey or providerId query parameters"
        }
        // On a device every application can claim a scheme, so a link must not choose who gets the result.
        if let nativeApps, !nativeIDs(query).allSatisfy({ nativeApps.contains($0) }) {
            return "auth.nativeApps does not name the application"
        }
        guard let address = query["redirectUrl"] else { return nil }
        // Otherwise a link to this host could lead anywhere.
        guard let parsed = WebOrigin(of: address), ["http", "https"].contains(parsed.scheme), !isStrict || parsed.isIn(authorizedDomains) else {
            return "the redirectUrl is not an address of an authorized domain"
        }
        return nil
    }

    /// The ids by which a sign-in returns to a native application: its package, or its bundle and what makes its scheme.
    private static func nativeIDs(_ query: FormText) -> [String] {
        let names = query["ibi"]?.isEmpty == false ? ["apn", "ibi", "clientId", "appId"] : ["apn"]
        return names.compactMap { query[$0] }.filter { !$0.isEmpty }
    }

    // MARK: Pages

    static let frame = HTMLPage(
        title: "Sign-in frame", script: SignInScript.frame, body: "<script src=\"https://apis.google.com/js/api.js\" async></script>")

    static let handler = HTMLPage(title: "Sign-in", script: SignInScript.delivery + SignInScript.handler, body: "<p>One moment, please.</p>")

    /// The widget of development.
    ///
    /// - Parameter accounts: those of the provider that can be chosen.
    static func widget(provider: String, accounts: [LinkedProvider]) -> HTMLPage {
        let name = HTMLPage.escaped(provider)
        let items = accounts.map { account in
            """
            <li><button type="button" class="js-reuse-account" data-claims="\(HTMLPage.escaped(claims(account)))">
            \(HTMLPage.escaped(account.displayName ?? "(No display name)")) <small>\(HTMLPage.escaped(account.email ?? ""))</small></button></li>
            """
        }
        let hint = accounts.isEmpty ? "There is no account of \(name) yet." : "Choose an account of \(name), or add one."
        return HTMLPage(
            title: "Auth Emulator IDP Login Widget", script: SignInScript.delivery + SignInScript.widget,
            body: """
                <h1>Sign in with \(name)</h1>
                <div id="accounts-list">
                <p>\(hint)</p>
                <ul>
                \(items.joined(separator: "\n"))
                <li><button type="button" id="add-account-button" class="js-new-account">Add new account</button></li>
                </ul>
                </div>
                <div id="add-user" hidden>
                <button type="button" id="autogen-button">Make up an account</button>
                <form id="main-form">
                <label>E-mail <input id="email-input" autocomplete="off"></label>
                <label>Display name <input id="display-name-input" autocomplete="off"></label>
                <label>Screen name <input id="screen-name-input" autocomplete="off"></label>
                <label>Address of a photo <input id="profile-photo-input" autocomplete="off"></label>
                <button type="button" id="back-button">Back</button>
                <button id="sign-in" disabled>Sign in</button>
                </form>
                </div>
                """)
    }

    /// The claims of an account as an unsigned credential.
    private static func claims(_ account: LinkedProvider) -> String {
        var claims: JSONObject = ["sub": .string(account.rawID), "iss": "", "aud": "", "exp": 0, "iat": 0, "email_verified": true]
        claims["name"] = account.displayName.map { .string($0) }
        claims["screen_name"] = account.screenName.map { .string($0) }
        claims["email"] = account.email.map { .string($0) }
        claims["picture"] = account.photoURL.map { .string($0) }
        return JSONValue.object(claims).description
    }

    /// The pages that may contain the frame, as a source list: it gives results of sign-ins to the page around it.
    static func ancestors(authorizedDomains: [String], isStrict: Bool) -> String {
        guard isStrict else { return "http: https:" }
        var sources: [String] = []
        for domain in authorizedDomains where !domain.isEmpty && domain.utf8.allSatisfy({ isNameByte($0) }) {
            sources += ["https://\(domain):*", "https://*.\(domain):*"]
            if domain == "localhost" || domain == "127.0.0.1" { sources.append("http://\(domain):*") }
        }
        return sources.isEmpty ? "'none'" : sources.joined(separator: " ")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
