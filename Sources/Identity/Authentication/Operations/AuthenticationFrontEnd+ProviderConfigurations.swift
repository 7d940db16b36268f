import Accounts
import HearthJSON
import HTTP
import IdentityProviders

/// The configurations of identity providers: those of administrators, and those of the configuration file, which can only be read.
extension AuthenticationFrontEnd {
    func providers(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try await existingTenant(call)
        let collection = call.path.operation.rawValue
        let parent = "projects/\(service.policy.project)\(tenant.isEmpty ? "" : "/tenants/\(tenant)")/\(collection)"
        if call.path.operation == .standardProviders { return try standardProviders(call, parent) }
        let kind: AccountStore.ProviderKind = call.path.operation == .oauthProviders ? .oauth : .saml
        // A configuration that nobody can sign in with would look like one that works. What an earlier version has stored can be read and deleted.
        if kind == .saml, isStrict, call.method == .post || call.method == .patch { throw Self.hasNoSAML }
        guard let id = call.path.id else {
            switch call.method {
            case .get: return try await listProviders(call, kind, tenant, parent)
            case .post: return try await createProvider(call, kind, tenant, parent)
            default: throw Self.notFound
            }
        }
        switch call.method {
        case .get:
            let stored = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.provider(id, kind, tenant: tenant) }
            guard let document = stored ?? configurations(kind)[id] else { throw Self.noConfiguration }
            return Self.provider(document, "\(parent)/\(id)")
        case .patch:
            try await requireStored(id, kind, tenant)
            let (sent, mask) = (call.body.object, UpdateMask(call.query["updateMask"]))
            let stored = try await accounts.perform(on: loop) { store throws(AccountFailure) -> JSONObject in
                guard let old = try store.provider(id, kind, tenant: tenant) else { throw AccountFailure("CONFIGURATION_NOT_FOUND") }
                let document = mask.apply(sent, to: old, defaults: JSONObject())
                try store.setProvider(id, kind, tenant: tenant, document)
                return document
            }
            return Self.provider(stored, "\(parent)/\(id)")
        case .delete:
            try await requireStored(id, kind, tenant)
            try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.removeProvider(id, kind, tenant: tenant) }
            return .object(JSONObject())
        default: throw Self.notFound
        }
    }

    /// The providers of the configuration file. They count in every tenant.
    private func configurations(_ kind: AccountStore.ProviderKind) -> [String: JSONObject] {
        kind == .oauth ? service.tools.providers.oidcConfigurations : [:]
    }

    static let hasNoSAML = AuthError("OPERATION_NOT_ALLOWED", "Sign-in with SAML is not supported by this host.")

    private static let noConfiguration = AuthError("CONFIGURATION_NOT_FOUND", status: 404, statusName: "NOT_FOUND")

    /// Facebook, Google and Apple.
    private func standardProviders(_ call: AuthCall, _ parent: String) throws(AuthError) -> JSONValue {
        guard call.method == .get else {
            throw AuthError("OPERATION_NOT_ALLOWED", "Facebook, Google and Apple are configured under auth in functions.json.")
        }
        let found = service.tools.providers.standardConfigurations
        if let id = call.path.id {
            guard let document = found[id] else { throw Self.noConfiguration }
            return Self.provider(document, "\(parent)/\(id)")
        }
        let list = found.sorted { $0.key < $1.key }.map { Self.provider($0.value, "\(parent)/\($0.key)") }
        return .object(list.isEmpty ? JSONObject() : [call.path.operation.rawValue: .array(list)])
    }

    /// Refuses to change a provider that only the configuration file has.
    private func requireStored(_ id: String, _ kind: AccountStore.ProviderKind, _ tenant: String) async throws(AuthError) {
        guard configurations(kind)[id] != nil else { return }
        let stored = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.provider(id, kind, tenant: tenant) }
        if stored == nil { throw AuthError("OPERATION_NOT_ALLOWED", "\(id) is configured under auth.oidc in functions.json.") }
    }

    private func createProvider(
        _ call: AuthCall, _ kind: AccountStore.ProviderKind, _ tenant: String, _ parent: String
    ) async throws(AuthError) -> JSONValue {
        let parameter = kind == .oauth ? "oauthIdpConfigId" : "inboundSamlConfigId"
        guard let id = call.query[parameter], !id.isEmpty else { throw AuthError("INVALID_CONFIG_ID") }
        guard id.hasPrefix(kind == .oauth ? "oidc." : "saml.") else { throw AuthError("INVALID_CONFIG_ID") }
        let document = call.body.object
        try await accounts.perform(on: loop) { store throws(AccountFailure) in
            if try store.provider(id, kind, tenant: tenant) != nil { throw AccountFailure("DUPLICATE_CONFIG_ID") }
            try store.setProvider(id, kind, tenant: tenant, document)
        }
        return Self.provider(document, "\(parent)/\(id)")
    }

    private func listProviders(
        _ call: AuthCall, _ kind: AccountStore.ProviderKind, _ tenant: String, _ parent: String
    ) async throws(AuthError) -> JSONValue {
        let limit = min(max(call.query["pageSize"].flatMap { Int($0) } ?? 20, 1), 100)
        let after = call.query["pageToken"] ?? ""
        let stored = try await accounts.read(on: loop) { store throws(AccountFailure) -> [String: JSONObject] in
            let rows = try store.providers(kind, tenant: tenant, after: after, limit: limit)
            return Dictionary(rows.map { ($0.id, $0.document) }) { $1 }
        }
        // The administrator's provider replaces that of the file.
        let all = configurations(kind).filter { $0.key > after }.merging(stored) { $1 }
        let page = all.sorted { $0.key < $1.key }.prefix(limit)
        var fields = JSONObject()
        if !page.isEmpty {
            fields[call.path.operation.rawValue] = .array(page.map { Self.provider($0.value, "\(parent)/\($0.key)") })
        }
        if page.count == limit, let last = page.last { fields["nextPageToken"] = .string(last.key) }
        return .object(fields)
    }

    private static func provider(_ document: JSONObject, _ name: String) -> JSONValue {
        var answer = document
        answer["name"] = .string(name)
        if let types = answer["responseType"]?.object {
            // The Admin SDKs compare with the types that are on.
            answer["responseType"] = .object(JSONObject(types.filter { $0.value.bool == true }.map { ($0.key, $0.value) }))
        }
        return .object(answer)
    }
}
