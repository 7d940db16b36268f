internal import HearthJSON

/// Identity providers, and the configuration of the project.
extension MemoryUsers {
    mutating func provider(_ method: String, _ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let tenant = payload["tenantId"]?.string ?? ""
        guard let all = tenants[tenant]?.providers else { throw .noTenant }
        func shown(_ id: String, _ document: JSONObject) -> JSONValue {
            var document = document
            document["name"] = .string("projects/\(project)\(tenant.isEmpty ? "" : "/tenants/\(tenant)")/oauthIdpConfigs/\(id)")
            return .object(document)
        }
        if method == "oauthIdpConfigs:list" {
            let size = payload["pageSize"]?.int ?? 20
            let page = all.sorted { $0.key < $1.key }.filter { $0.key > payload["pageToken"]?.string ?? "" }.prefix(size)
            var answer: JSONObject = page.isEmpty ? [:] : ["oauthIdpConfigs": .array(page.map { shown($0.key, $0.value) })]
            if page.count == size { answer["nextPageToken"] = page.last.map { .string($0.key) } }
            return .object(answer)
        }
        guard let id = payload["oauthIdpConfigId"]?.string, id.hasPrefix("oidc.") else {
            throw MemoryUserRefusal("invalid-provider-id", "invalid-argument", "the id of the provider is not valid; it begins with oidc.")
        }
        var document = all[id] ?? [:]
        guard (all[id] == nil) == (method == "oauthIdpConfigs:create") else {
            throw all[id] == nil
                ? MemoryUserRefusal("configuration-not-found", "not-found", "there is no such provider")
                : MemoryUserRefusal("configuration-exists", "already-exists", "another provider has this id")
        }
        switch method {
        case "oauthIdpConfigs:get": return shown(id, document)
        case "oauthIdpConfigs:create", "oauthIdpConfigs:update":
            for (name, value) in payload where name != "tenantId" && name != "oauthIdpConfigId" { document[name] = value }
            tenants[tenant]?.providers[id] = document
            return shown(id, document)
        case "oauthIdpConfigs:delete":
            tenants[tenant]?.providers[id] = nil
            return [:]
        default: throw MemoryUserRefusal.unknown(method)
        }
    }

    mutating func configuration(_ method: String, _ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        var document = tenants[""]?.document ?? [:]
        if method == "config:update" {
            for (name, value) in payload { document[name] = value }
            tenants[""]?.document = document
        } else if method != "config:get" {
            throw MemoryUserRefusal.unknown(method)
        }
        if document["authorizedDomains"] == nil { document["authorizedDomains"] = ["localhost", "127.0.0.1"] }
        return .object(document)
    }
}
