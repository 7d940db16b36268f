extension Functions {
    /// The plugin's description of itself: what the host reads before it routes anything here.
    var manifest: JSONValue {
        var endpoints = JSONObject()
        for definition in definitions { endpoints[definition.name] = .object(definition.manifest) }
        var manifest = JSONObject()
        manifest["specVersion"] = "v1alpha1"
        manifest["params"] = .array(declaredParams.map { .object($0.declaration) })
        manifest["endpoints"] = .object(endpoints)
        return .object(manifest)
    }

    /// The parameters given to `Functions`, then the secrets that only functions name.
    private var declaredParams: [any FunctionParam] {
        var all = params
        var names = Set(params.map(\.name))
        for secret in definitions.flatMap({ $0.options.secrets ?? [] }) where names.insert(secret.name).inserted {
            all.append(secret)
        }
        return all
    }
}

extension FunctionDefinition {
    fileprivate var manifest: JSONObject {
        var endpoint = JSONObject()
        endpoint["entryPoint"] = .string(entryPoint)
        endpoint["platform"] = .string(generation.rawValue)
        options.write(to: &endpoint)
        switch trigger {
        case .callable:
            endpoint["callableTrigger"] = [:]
        case .http:
            var http = JSONObject()
            http["invoker"] = options.invoker.map { .array($0.names.map { .string($0) }) }
            endpoint["httpsTrigger"] = .object(http)
        case .database(let trigger):
            endpoint["eventTrigger"] = trigger.manifest
        }
        return endpoint
    }
}
