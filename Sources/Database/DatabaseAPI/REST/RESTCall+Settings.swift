import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import Rules

extension RESTCall {
    /// Handles `/.settings/...`, for administrators (spec database 2.9).
    func handleSetting(_ name: String, _ body: Span<UInt8>) throws(RESTError) {
        try requireAdmin()
        switch (name, verb) {
        case ("rules", .get): try readRules()
        case ("rules", .put): try writeRules(body)
        case ("rulesets", .post): try stageRules(body)
        case ("rulesets", .get): answer(value: .object(["rulesets": front.settings.staging.list(namespaceName)]))
        case ("ruleset_labels", .get): answer(value: front.settings.staging.labels(namespaceName))
        case ("ruleset_labels", .put): try labelRules(body)
        case (WriteSizeLimit.settingName, .get): try readSetting(name, standard: "\"\(WriteSizeLimit.standard.rawValue)\"") { "\"\($0)\"" }
        case (WriteSizeLimit.settingName, .put):
            guard case .string(let text)? = try? JSONValue(parsing: body) else { throw .badRequest("A JSON string is expected") }
            try keepSetting(name, Array(try WriteSizeLimit(named: text).rawValue.utf8), echo: body)
        case ("strictTriggerValidation", .get): try readSetting(name, standard: "true") { $0 }
        case ("strictTriggerValidation", .put):
            guard case .bool(let isStrict)? = try? JSONValue(parsing: body) else { throw .badRequest("true or false is expected") }
            try keepSetting(name, Array((isStrict ? "true" : "false").utf8), echo: body)
        case ("profile", .get): try profile()
        case ("functionTriggers", .get): answer(value: front.settings.functionTriggers(namespaceName))
        case ("functionTriggers", .put), ("functionTriggers", .post):
            throw .badRequest("Triggers are not registered here: plugins declare them in their manifests, and the host reads those")
        default:
            if name.hasPrefix("rulesets/"), verb == .get { return try readStagedRules(id: String(name.dropFirst(9))) }
            throw RESTError(.notFound, "There is no such setting, or it cannot be used with this method: \(name)")
        }
    }

    /// Handles `/.inspect/...`, for administrators.
    func inspect(_ name: String) throws(RESTError) {
        try requireAdmin()
        guard name == "databases", verb == .get else { throw RESTError(.notFound, "There is nothing to inspect here: \(name)") }
        do throws(DatabaseError) {
            answer(value: .array(try front.database.names().map { .object(["name": .string($0)]) }))
        } catch {
            throw RESTError(error)
        }
    }

    func answer(value: JSONValue) {
        var text = ByteBuffer()
        if parameters.print == .pretty { PrettyJSON.append(value, to: &text) } else { value.write(to: &text) }
        answer(json: text.bytes)
    }

    // MARK: Rules

    private func readRules() throws(RESTError) {
        let isStrict = parameters.format == .strict
        let tell = { [self] (rules: RuleSet) in
            let text = isStrict ? rules.strictJSON() : rules.source
            answer(json: text.span)
        }
        switch try found() {
        case .namespace(let namespace): namespace.rules(on: front.loop, completion: tell)
        case .absent(let absent): tell(absent.rules)
        }
    }

    private func writeRules(_ body: Span<UInt8>) throws(RESTError) {
        try compile(body) { [self] rules throws(RESTError) in
            guard !parameters.isDryRun else { return answer(json: "{\"status\":\"ok\"}") }
            try enforce(rules) { $0.answer(json: "{\"status\":\"ok\"}") }
        }
    }

    private func compile(_ body: Span<UInt8>, then completion: @escaping (RuleSet) throws(RESTError) -> Void) throws(RESTError) {
        guard body.count > 0 else { throw .noData }
        var limits = front.database.limits.rules
        // A dry run reports errors in rules of any size.
        if parameters.isDryRun { limits.documentBytesMax = max(limits.documentBytesMax, body.count) }
        guard body.count <= limits.documentBytesMax else {
            throw .badRequest("Rules are too large: at most \(limits.documentBytesMax) bytes are taken")
        }
        try parseElsewhere(body) { [limits] text in
            Result { () throws(RulesError) in try RuleSet(parsing: text, limits: limits) }
        } then: { (rules: Result<RuleSet, RulesError>, _) throws(RESTError) in
            let compiled: RuleSet
            do throws(RulesError) { compiled = try rules.get() } catch { throw .badRequest("\(error)\n") }
            try completion(compiled)
        }
    }

    private func enforce(_ rules: RuleSet, _ then: @escaping (RESTCall) -> Void) throws(RESTError) {
        try namespace().setRules(rules, on: front.loop) { [self] error in
            if let error { refuse(RESTError(error)) } else { then(self) }
        }
    }

    // MARK: Staged rules

    private func stageRules(_ body: Span<UInt8>) throws(RESTError) {
        try compile(body) { [self] rules throws(RESTError) in
            answer(value: .object(["id": .string(front.settings.staging.add(rules, namespace: namespaceName))]))
        }
    }

    private func readStagedRules(id: String) throws(RESTError) {
        guard let rules = front.settings.staging.rules(id, namespace: namespaceName) else { throw RESTError(.notFound, "There is no such ruleset") }
        let source = rules.source
        answer(json: source.span)
    }

    /// Puts the ruleset with the label `stable` in force. `canary` is only stored as a name.
    private func labelRules(_ body: Span<UInt8>) throws(RESTError) {
        guard case .object(let labels)? = try? JSONValue(parsing: body), case .string(let stable)? = labels["stable"] else {
            throw .badRequest("An object with \"stable\", and perhaps \"canary\", is expected")
        }
        let staging = front.settings.staging
        let canary = labels["canary"]?.string
        guard let rules = staging.rules(stable, namespace: namespaceName),
            canary.map({ staging.rules($0, namespace: namespaceName) != nil }) ?? true
        else { throw RESTError(.notFound, "There is no such ruleset") }
        try enforce(rules) { call in
            staging.label(stable: stable, canary: canary, namespace: call.namespaceName)
            call.answer(json: "{\"status\":\"ok\"}")
        }
    }

    // MARK: Settings of a namespace

    private func readSetting(_ name: String, standard: String, _ json: @escaping (String) -> String) throws(RESTError) {
        try setting(name) { [self] value in
            let text = value.map { json(String(decoding: $0, as: UTF8.self)) } ?? standard
            let json = Array(text.utf8)
            answer(json: json.span)
        }
    }

    /// The value of the namespace's own setting; nil if it was never set.
    func setting(_ name: String, _ tell: @escaping ([UInt8]?) -> Void) throws(RESTError) {
        switch try found() {
        case .namespace(let namespace): namespace.setting(name, on: front.loop, completion: tell)
        case .absent: tell(nil)
        }
    }

    private func keepSetting(_ name: String, _ value: [UInt8], echo: Span<UInt8>) throws(RESTError) {
        let echo = echo.array()
        try namespace().setSetting(name, value, on: front.loop) { [self] error in
            if let error { refuse(RESTError(error)) } else { answer(json: echo.span) }
        }
    }
}
