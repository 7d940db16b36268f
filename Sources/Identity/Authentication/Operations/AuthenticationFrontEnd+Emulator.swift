import Accounts
import HearthJSON
import HTTP
import IdentityProviders

/// The paths of development: the inbox of codes, the settings of tests, and the page that uses the code of a mail.
extension AuthenticationFrontEnd {
    func emulate(_ call: AuthCall) async throws(AuthError) -> AuthAnswer {
        let tenant = call.path.tenant
        switch call.path.operation {
        case .emulatorAccounts:
            try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.removeAllUsers(tenant: tenant) }
            return .json(.object(JSONObject()))
        case .emulatorCodes:
            let codes = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.shownCodes(tenant: tenant) }
            return .json(["oobCodes": .array(codes)])
        case .emulatorMessages:
            let codes = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.shownMessages(tenant: tenant) }
            return .json(["verificationCodes": .array(codes)])
        case .emulatorConfig: return .json(try await emulatorConfiguration(call))
        default: return try await useCode(call)
        }
    }

    private func emulatorConfiguration(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let (sent, isChange) = (call.body.object, call.method == .patch)
        guard isChange || call.method == .get else { throw Self.notFound }
        guard isChange else {
            return Self.emulatorFields(try await accounts.read(on: loop) { store throws(AccountFailure) in try store.projectDocument() })
        }
        let defaults = service.policy.projectDefaults
        let document = try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.changeProject { changes in
                if let allows = sent["signIn"]?["allowDuplicateEmails"] {
                    changes.replace(["signIn", "allowDuplicateEmails"], by: allows, defaults: defaults)
                }
                if let privacy = sent["emailPrivacyConfig"] { changes.replace(["emailPrivacyConfig"], by: privacy, defaults: defaults) }
            }
        }
        return Self.emulatorFields(document)
    }

    private static func emulatorFields(_ document: JSONObject) -> JSONValue {
        [
            "signIn": ["allowDuplicateEmails": .bool(document["signIn"]?["allowDuplicateEmails"]?.bool ?? false)],
            "emailPrivacyConfig": [
                "enableImprovedEmailPrivacy": .bool(document["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool ?? false)
            ],
        ]
    }

    // MARK: Links of mails

    /// Uses the code of a link.
    private func useCode(_ call: AuthCall) async throws(AuthError) -> AuthAnswer {
        guard let mode = call.query["mode"], let code = call.query["oobCode"], !code.isEmpty else {
            throw AuthError("Missing mode or oobCode query parameters", statusName: "INVALID_ARGUMENT")
        }
        let tenant = call.query["tenantId"] ?? ""
        let address = call.query["continueUrl"].flatMap { $0.isEmpty ? nil : $0 }
        switch mode {
        case "signIn":
            guard let address else { throw AuthError("Missing 'continueUrl' query parameter", statusName: "INVALID_ARGUMENT") }
            return .redirect(Self.adding(call.query, to: address))
        case "resetPassword":
            let stored = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.code(code, tenant: tenant) }
            guard let password = call.query["newPassword"], !password.isEmpty else {
                let advice = "send GET request to the link with &newPassword=NEW_PASSWORD_HERE."
                return .json(Self.told("To reset the password for \(stored.email), \(advice)"))
            }
            try requireStrength(password, try await rules(tenant))
            let hash = try await hash(password, for: call)
            let used = try await accounts.perform(on: loop) { store throws(AccountFailure) in
                try store.resetPassword(code, hash: hash, tenant: tenant)
            }
            if let address { return .redirect(address) }
            return .json(Self.told("The password has been successfully updated.", "email", used.email))
        default:
            let user = try await apply(code, tenant: tenant, call.links)
            if let address, mode != "recoverEmail" { return .redirect(address) }
            let isChange = mode == "verifyAndChangeEmail"
            let sentence = "The email has been successfully \(isChange ? "changed" : "verified")."
            return .json(Self.told(sentence, isChange ? "newEmail" : "email", user.email ?? ""))
        }
    }

    private static func told(_ sentence: String, _ name: String? = nil, _ value: String = "") -> JSONValue {
        var content: JSONObject = ["success": .string(sentence)]
        if let name { content[name] = .string(value) }
        return ["authEmulator": .object(content)]
    }

    static func adding(_ query: FormText, to address: String) -> String {
        let parameters = query.values.filter { $0.key != "continueUrl" }.sorted { $0.key < $1.key }
            .map { "\(FormText.encoded($0.key))=\(FormText.encoded($0.value))" }.joined(separator: "&")
        let parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let fragment = parts.count > 1 ? "#\(parts[1])" : ""
        return "\(parts[0])\(parts[0].contains("?") ? "&" : "?")\(parameters)\(fragment)"
    }
}
