import Accounts
import HearthJSON
import HTTP

/// The configuration of the project and of tenants.
extension AuthenticationFrontEnd {
    func projectConfiguration(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let name = "projects/\(service.policy.project)/config"
        let stored: JSONObject
        switch call.method {
        case .get: stored = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.projectDocument() }
        case .patch:
            let (sent, mask, defaults) = (call.body.object, UpdateMask(call.query["updateMask"]), service.policy.projectDefaults)
            let isStrict = isStrict
            stored = try await accounts.perform(on: loop) { store throws(AccountFailure) in
                let old = try store.projectDocument()
                let changed = try store.changeProject { mask.apply(sent, to: &$0, defaults: defaults) }
                try ConfigurationRules(isStrict: isStrict).check(changed, replacing: old)
                return changed
            }
        default: throw Self.notFound
        }
        var answer = stored
        answer["name"] = .string(name)
        if answer["authorizedDomains"] == nil { answer["authorizedDomains"] = .array(service.settings.authorizedDomains.map { .string($0) }) }
        var signIn = answer["signIn"]?.object ?? JSONObject()
        if signIn["allowDuplicateEmails"] == nil { signIn["allowDuplicateEmails"] = false }
        answer["signIn"] = .object(signIn)
        Self.omitFalsePrivacy(&answer)
        return .object(answer)
    }

    /// Enumeration protection that is off reads back as an empty object.
    private static func omitFalsePrivacy(_ answer: inout JSONObject) {
        if let privacy = answer["emailPrivacyConfig"], privacy["enableImprovedEmailPrivacy"]?.bool == false {
            answer["emailPrivacyConfig"] = .object(JSONObject())
        }
    }

    // MARK: Tenants

    private static let tenantDefaults: JSONObject = [
        "allowPasswordSignup": false, "enableEmailLinkSignin": false, "enableAnonymousUser": false, "disableAuth": false,
        "mfaConfig": ["state": "DISABLED", "enabledProviders": []],
    ]

    func tenants(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        guard let id = call.path.id else {
            switch call.method {
            case .get: return try await listTenants(call)
            case .post: return try await createTenant(call)
            default: throw Self.notFound
            }
        }
        switch call.method {
        case .get:
            return tenant(id, try await accounts.read(on: loop) { store throws(AccountFailure) in try store.existingTenant(id) })
        case .patch:
            let (sent, mask, isStrict) = (call.body.object, UpdateMask(call.query["updateMask"]), isStrict)
            let stored = try await accounts.perform(on: loop) { store throws(AccountFailure) -> JSONObject in
                let old = try store.existingTenant(id)
                let document = mask.apply(sent, to: old, defaults: Self.tenantDefaults)
                try ConfigurationRules(isStrict: isStrict).check(document, replacing: old)
                try store.setTenant(id, document)
                return document
            }
            return tenant(id, stored)
        case .delete:
            try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.removeTenant(id) }
            return .object(JSONObject())
        default: throw Self.notFound
        }
    }

    private func createTenant(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        var document = Self.tenantDefaults
        for (name, value) in call.body.object where !value.isNull { document[name] = value }
        let id = Self.tenantID(try call.body.text("displayName"))
        let (made, isStrict) = (document, isStrict)
        try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try ConfigurationRules(isStrict: isStrict).check(made, replacing: Self.tenantDefaults)
            try store.setTenant(id, made)
        }
        return tenant(id, made)
    }

    private static func tenantID(_ name: String?) -> String {
        let readable = (name ?? "tenant").lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }.prefix(20)
        return "\(readable.isEmpty ? "tenant" : String(readable))-\(SecretText.identifier(5).lowercased())"
    }

    private func tenant(_ id: String, _ document: JSONObject) -> JSONValue {
        var answer = document
        answer["name"] = .string("projects/\(service.policy.project)/tenants/\(id)")
        answer["tenantId"] = .string(id)
        Self.omitFalsePrivacy(&answer)
        return .object(answer)
    }

    private func listTenants(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let limit = min(max(call.query["pageSize"].flatMap { Int($0) } ?? 20, 1), 1000)
        let after = call.query["pageToken"] ?? ""
        let found = try await accounts.read(on: loop) { store throws(AccountFailure) in
            TenantPage(rows: try store.tenants(after: after, limit: limit).map { TenantPage.Row(id: $0.id, document: $0.document) })
        }
        var fields: JSONObject = ["tenants": .array(found.rows.map { tenant($0.id, $0.document) })]
        if found.rows.count == limit, let last = found.rows.last { fields["nextPageToken"] = .string(last.id) }
        return .object(fields)
    }

    private struct TenantPage: Sendable {
        struct Row: Sendable {
            var id: String
            var document: JSONObject
        }

        var rows: [Row]
    }
}
