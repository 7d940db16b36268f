package import HearthJSON

extension Functions {
    /// The plugin's description of itself. The host reads it before it routes calls to the plugin.
    package var manifest: JSONValue {
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
        case .blocking(let trigger):
            endpoint["blockingTrigger"] = trigger.manifest
        case .user(let trigger):
            endpoint["eventTrigger"] = trigger.manifest
        case .schedule(let trigger):
            endpoint["scheduleTrigger"] = trigger.manifest
        case .taskQueue(let trigger):
            endpoint["taskQueueTrigger"] = trigger.manifest
        }
        return endpoint
    }
}

extension Options {
    /// Adds these options to an endpoint of the manifest, under the names that `functions.yaml` has for them.
    func write(to endpoint: inout JSONObject) {
        endpoint["region"] = region.map { .array($0.map { .string($0) }) }
        endpoint["availableMemoryMb"] = memory.map { .int(Int64($0.rawValue)) }
        endpoint["timeoutSeconds"] = timeoutSeconds.map { .int(Int64($0)) }
        endpoint["cpu"] = cpu.map { .shortest($0) }
        endpoint["concurrency"] = concurrency.map { .int(Int64($0)) }
        endpoint["minInstances"] = minInstances.map { .int(Int64($0)) }
        endpoint["maxInstances"] = maxInstances.map { .int(Int64($0)) }
        endpoint["secretEnvironmentVariables"] = secrets.map { .array($0.map { ["key": .string($0.name)] }) }
        endpoint["labels"] = labels.map { labels in
            var object = JSONObject()
            for (key, value) in labels.sorted(by: { $0.key < $1.key }) { object[key] = .string(value) }
            return .object(object)
        }
        endpoint["ingressSettings"] = ingressSettings.map { .string($0.rawValue) }
        endpoint["serviceAccount"] = serviceAccount.map { .string($0) }
        endpoint["vpc"] = vpc?.manifest
        endpoint["enforceAppCheck"] = enforceAppCheck.map { .bool($0) }
        endpoint["consumeAppCheckToken"] = consumeAppCheckToken.map { .bool($0) }
        endpoint["cors"] = cors?.manifest
        endpoint["heartbeatSeconds"] = heartbeatSeconds?.manifest
        endpoint["heartbeatStyle"] = heartbeatStyle.map { .string($0.rawValue) }
        endpoint["omit"] = omit.map { .bool($0) }
        endpoint["allowedHosts"] = allowedHosts.map { .array($0.map { .string($0) }) }
    }
}

extension JSONValue {
    /// A whole number without its point.
    fileprivate static func shortest(_ number: Double) -> JSONValue {
        Int64(exactly: number).map { .int($0) } ?? .double(number)
    }
}

extension VPC {
    fileprivate var manifest: JSONValue {
        var object = JSONObject()
        object["connector"] = .string(connector)
        object["egressSettings"] = egress.map { .string($0.rawValue) }
        return .object(object)
    }
}

extension Heartbeat {
    fileprivate var manifest: JSONValue {
        switch self {
        case .every(let seconds): .shortest(seconds)
        case .off: .null
        }
    }
}

extension CORS {
    fileprivate var manifest: JSONValue {
        switch self {
        case .all: true
        case .off: false
        case .only(let origin): .string(origin)
        case .anyOf(let origins): .array(origins.map(\.manifest))
        }
    }
}

extension CORS.Origin {
    fileprivate var manifest: JSONValue {
        switch self {
        case .exactly(let origin): .string(origin)
        case .matching(let pattern): ["regex": .string(pattern)]
        }
    }
}
