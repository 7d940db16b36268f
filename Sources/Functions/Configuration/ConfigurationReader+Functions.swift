extension ConfigurationReader {
    mutating func functions(_ field: Field) -> [String: FunctionOverrides] {
        var functions: [String: FunctionOverrides] = [:]
        for (name, options) in field.entries { functions[name] = overrides(options) }
        return functions
    }

    /// The options of one function.
    mutating func overrides(_ field: Field) -> FunctionOverrides {
        var overrides = FunctionOverrides()
        overrides.regions = field["region"].stringsIfPresent
        overrides.memoryBytes = memory(field["memory"])
        overrides.timeoutSeconds = field["timeoutSeconds"].doubleIfPresent
        overrides.cpu = cpu(field["cpu"])
        overrides.concurrency = field["concurrency"].intIfPresent
        overrides.minInstances = field["minInstances"].intIfPresent
        overrides.maxInstances = field["maxInstances"].intIfPresent
        overrides.enforceAppCheck = field["enforceAppCheck"].boolIfPresent
        overrides.consumeAppCheckToken = field["consumeAppCheckToken"].boolIfPresent
        overrides.cors = cors(field["cors"])
        overrides.heartbeat = field["heartbeatSeconds"].value.map { HeartbeatSetting(seconds: $0.double) }
        overrides.heartbeatStyle = field["heartbeatStyle"].choiceIfPresent(HeartbeatFormat.self)
        overrides.secrets = field["secrets"].stringsIfPresent ?? []
        overrides.labels = labels(field["labels"])
        overrides.omit = field["omit"].boolIfPresent
        overrides.ingress = field["ingressSettings"].choiceIfPresent(Ingress.self)
        overrides.invoker = invoker(field["invoker"])
        overrides.retry = field["retry"].boolIfPresent
        overrides.allowedHosts = field["allowedHosts"].stringsIfPresent
        overrides.positions = positions(field)
        checkTogether(overrides, field)
        return overrides
    }

    /// The position of each option; that of the function itself under the empty key.
    private func positions(_ field: Field) -> [String: Position?] {
        guard let value = field.value else { return [:] }
        var positions: [String: Position?] = ["": text.position(at: value.offset)]
        for member in value.members ?? [] { positions[member.key] = text.position(at: member.value.offset) }
        return positions
    }

    /// Checks rules between options as far as this object alone can violate them; the rest is checked when the plugin is loaded.
    private mutating func checkTogether(_ overrides: FunctionOverrides, _ field: Field) {
        guard isValid(field) else { return }
        if overrides.cpu != nil || overrides.concurrency != nil, let memory = overrides.memoryBytes {
            let violations = ResourceRules.violations(
                memoryBytes: memory, cpu: overrides.cpu, concurrency: overrides.concurrency, generation: 2)
            for violation in violations { fail(field[violation.option], violation.message) }
        }
        if let least = overrides.minInstances, let most = overrides.maxInstances, least > most {
            fail(field["minInstances"], "expected at most maxInstances, which is \(most), found \(least)")
        }
    }

    private mutating func memory(_ field: Field) -> Int? {
        guard isValid(field), let text = field.stringIfPresent, let bytes = MemoryAmount.bytes(text) else { return nil }
        if bytes < MemoryAmount.bytesMin || bytes > MemoryAmount.bytesMax {
            fail(field, "expected an amount of memory from 16MiB to 32GiB, found \(text.quoted)")
        }
        return bytes
    }

    private func cpu(_ field: Field) -> ProcessorShare? {
        if field.stringIfPresent == "gcf_gen1" { return .firstGeneration }
        return field.doubleIfPresent.map(ProcessorShare.processors)
    }

    private mutating func cors(_ field: Field) -> CORSPolicy? {
        guard let value = field.value, isValid(field) else { return nil }
        do {
            let policy = try CORSPolicy(value)
            for origin in policy?.neverMatchingOrigins ?? [] { warn(field, CORSPolicy.warning(origin)) }
            return policy
        } catch {
            fail(field, "the regular expression is not understood: \(error)")
            return nil
        }
    }

    private mutating func labels(_ field: Field) -> [String: String] {
        var labels: [String: String] = [:]
        for (key, label) in field.entries {
            if let refusal = LabelRules.refusal(of: key, label.stringIfPresent ?? "") { fail(label, refusal) }
            labels[key] = label.stringIfPresent
        }
        return labels
    }

    private mutating func invoker(_ field: Field) -> InvokerSetting? {
        guard let names = field.stringsIfPresent else { return nil }
        if let refusal = InvokerSetting.refusal(of: names) { fail(field, refusal) }
        return InvokerSetting(names: names)
    }
}
