/// Converts a validated manifest into declarations, and checks rules that its schema cannot express.
struct ManifestReader {
    /// The limit of all regular expressions together, in instructions.
    static let patternsSizeMax = 100_000

    let text: SourceText
    private(set) var problems: [Problem]
    private(set) var warnings: [Problem] = []

    private var patternsSize = 0

    init(text: SourceText, violations: [Problem]) {
        self.text = text
        problems = violations
    }

    mutating func functions(_ field: Field) -> [FunctionDeclaration] {
        field.entries.enumerated().compactMap { index, entry in
            let generation = entry.field["platform"].string == "gcfv1" ? 1 : 2
            guard let trigger = trigger(entry.field, generation: generation) else { return nil }
            let declaration = FunctionDeclaration(
                name: entry.key, index: index, entryPoint: entry.field["entryPoint"].stringIfPresent ?? entry.key,
                generation: generation, trigger: trigger, options: options(entry.field), source: text.file)
            checkTimeout(declaration, entry.field["timeoutSeconds"])
            return declaration
        }
    }

    private mutating func trigger(_ field: Field, generation: Int) -> Trigger? {
        let names = ["callableTrigger", "httpsTrigger", "eventTrigger", "blockingTrigger", "scheduleTrigger", "taskQueueTrigger"]
        let present = names.filter { field[$0].isPresent }
        guard present.count == 1 else {
            let found = present.isEmpty ? "none" : present.joined(separator: " and ")
            fail(field, "expected exactly one of \(names.joined(separator: ", ")), found \(found)")
            return nil
        }
        switch present[0] {
        case "callableTrigger": return .callable
        case "httpsTrigger": return .https
        case "blockingTrigger": return .blocking(blocking(field["blockingTrigger"]))
        case "scheduleTrigger": return .schedule(schedule(field["scheduleTrigger"], generation: generation))
        case "taskQueueTrigger": return .task(taskQueue(field["taskQueueTrigger"]))
        default: return .event(event(field["eventTrigger"]))
        }
    }

    private func event(_ field: Field) -> EventTrigger {
        EventTrigger(
            eventType: field["eventType"].stringIfPresent ?? "", filters: texts(field["eventFilters"]),
            pathPatterns: texts(field["eventFilterPathPatterns"]), retry: field["retry"].boolIfPresent ?? false)
    }

    private func blocking(_ field: Field) -> BlockingTrigger {
        let names = ["idToken", "accessToken", "refreshToken"].filter { field["options"][$0].boolIfPresent ?? false }
        return BlockingTrigger(eventType: field["eventType"].stringIfPresent ?? "", credentials: Set(names))
    }

    private func texts(_ field: Field) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, entry) in field.entries { texts[key] = entry.stringIfPresent }
        return texts
    }

    private mutating func options(_ field: Field) -> DeclaredOptions {
        var options = DeclaredOptions()
        options.regions = field["region"].stringsIfPresent
        options.memoryMebibytes = declared(field["availableMemoryMb"], \.integer)
        options.cpu = cpu(field["cpu"])
        options.concurrency = declared(field["concurrency"], \.integer)
        options.timeoutSeconds = declared(field["timeoutSeconds"], \.double)
        options.minInstances = declared(field["minInstances"], \.integer)
        options.maxInstances = declared(field["maxInstances"], \.integer)
        options.labels = labels(field["labels"])
        options.environment = texts(field["environmentVariables"])
        options.secrets = (field["secretEnvironmentVariables"].value?.elements ?? []).compactMap { $0["key"]?.string }
        options.ingress = field["ingressSettings"].choiceIfPresent(Ingress.self)
        options.invoker = invoker(field["httpsTrigger"]["invoker"])
        options.omit = declared(field["omit"], \.bool)
        options.enforceAppCheck = field["enforceAppCheck"].boolIfPresent
        options.consumeAppCheckToken = field["consumeAppCheckToken"].boolIfPresent
        options.cors = cors(field["cors"])
        options.heartbeat = field["heartbeatSeconds"].value.map { HeartbeatSetting(seconds: $0.double) }
        options.heartbeatStyle = field["heartbeatStyle"].choiceIfPresent(HeartbeatFormat.self)
        options.allowedHosts = field["allowedHosts"].stringsIfPresent
        warnOfIdleOptions(field)
        return options
    }

    /// Warns of each option that does nothing: on this host, or for functions of this kind.
    private mutating func warnOfIdleOptions(_ field: Field) {
        var reasons = ["serviceAccount": "on this host", "serviceAccountEmail": "on this host", "vpc": "on this host"]
        if field["callableTrigger"].value == nil {
            let others = [
                "scheduleTrigger": "scheduled functions", "blockingTrigger": "functions that run before sign-ins",
                "taskQueueTrigger": "functions with task queues",
            ]
            let other = others.first { field[$0.key].value != nil }?.value ?? "functions that run on events"
            let kind = field["httpsTrigger"].value == nil ? other : "plain HTTP functions"
            for name in ["enforceAppCheck", "consumeAppCheckToken", "heartbeatSeconds", "heartbeatStyle"] { reasons[name] = "for \(kind)" }
            if field["httpsTrigger"].value == nil {
                for name in ["cors", "ingressSettings"] { reasons[name] = "for \(kind)" }
            }
        }
        for (name, reason) in reasons.sorted(by: { $0.key < $1.key }) {
            let option = field[name]
            guard option.value?.isNull == false, isValid(option) else { continue }
            warn(option, "\(name) does nothing \(reason)")
        }
    }

    /// Adds a warning. Without a position, because the author does not see the text: a library's code has generated it.
    private mutating func warn(_ field: Field, _ message: String) {
        warnings.append(Problem(file: text.file, path: field.path.description, message: message))
    }

    private func declared<Value>(_ field: Field, _ take: (LocatedValue) -> Value?) -> Declared<Value>? {
        guard let value = field.value else { return nil }
        if let expression = value.string { return .expression(expression) }
        return take(value).map(Declared.value)
    }

    private func cpu(_ field: Field) -> Declared<ProcessorShare>? {
        if field.stringIfPresent == "gcf_gen1" { return .value(.firstGeneration) }
        return declared(field) { $0.double.map(ProcessorShare.processors) }
    }

    private mutating func cors(_ field: Field) -> CORSPolicy? {
        guard let value = field.value, !value.isNull, isValid(field) else { return nil }
        guard patternsSize < Self.patternsSizeMax else {
            fail(field, "the regular expressions of the plugin are too large together")
            return nil
        }
        do {
            let policy = try CORSPolicy(value)
            patternsSize += policy?.size ?? 0
            for origin in policy?.neverMatchingOrigins ?? [] {
                warn(field, CORSPolicy.warning(origin))
            }
            return policy
        } catch {
            fail(field, "the regular expression is not understood: \(error)")
            return nil
        }
    }

    private mutating func invoker(_ field: Field) -> InvokerSetting? {
        guard let names = field.stringsIfPresent else { return nil }
        if let refusal = InvokerSetting.refusal(of: names) { fail(field, refusal) }
        return InvokerSetting(names: names)
    }

    private mutating func labels(_ field: Field) -> [String: String] {
        for (key, label) in field.entries {
            if let refusal = LabelRules.refusal(of: key, label.stringIfPresent ?? "") { fail(label, refusal) }
        }
        return texts(field)
    }

    private mutating func checkTimeout(_ declaration: FunctionDeclaration, _ field: Field) {
        guard let seconds = field.doubleIfPresent, isValid(field) else { return }
        if let message = declaration.timeoutViolation(seconds) { fail(field, message) }
    }

    private func isValid(_ field: Field) -> Bool {
        !problems.contains { field.path.contains($0.path) }
    }

    mutating func fail(_ field: Field, _ message: String) {
        guard problems.count < 2 * SchemaValidator.problemsMax, isValid(field) else { return }
        problems.append(text.problem(at: field.value?.offset ?? 0, path: field.path, message))
    }
}

extension FunctionDeclaration {
    /// A message if a timeout exceeds the limit of the trigger; nil otherwise.
    func timeoutViolation(_ seconds: Double) -> String? {
        let most = trigger.timeoutSecondsMax(generation: generation)
        guard !(0...most).contains(seconds) else { return nil }
        let kind = generation == 1 ? "first-generation \(trigger.noun)" : trigger.noun
        return "expected 0 to \(most.plain) seconds for \(kind == "event" ? "an" : "a") \(kind) function, found \(seconds.plain)"
    }
}

extension ManifestReader {
    mutating func params(_ field: Field) -> [Parameter] {
        var params: [Parameter] = []
        var names: Set<String> = []
        for element in field.elements {
            guard let name = element["name"].stringIfPresent else { continue }
            if !names.insert(name).inserted { fail(element["name"], "\(name.quoted) is declared twice") }
            if let reason = EnvironmentRules.refusal(of: name) { fail(element["name"], reason) }
            let kind = element["type"].choice(Parameter.Kind.self)
            let defaultValue = element["default"]
            let defaultText = defaultValue.value.map(Self.text)
            var param = Parameter(
                name: name, kind: kind, label: element["label"].stringIfPresent,
                summary: element["description"].stringIfPresent, defaultText: defaultText)
            readInput(element["input"], into: &param)
            if let defaultText, !Expression.isOne(defaultText), let message = param.violation(defaultText) { fail(defaultValue, message) }
            params.append(param)
        }
        return params
    }

    private mutating func readInput(_ field: Field, into param: inout Parameter) {
        guard let input = field.value else { return }
        if let source = input["text"]?["validationRegex"]?.string {
            do {
                param.pattern = try Pattern(source)
                param.patternMessage = input["text"]?["validationErrorMessage"]?.string
            } catch {
                fail(field, "the regular expression \(source.quoted) is not understood: \(error)")
            }
        }
        let options = input["select"]?["options"]?.elements ?? []
        let choices = options.compactMap { $0["value"].map(Self.text) }
        if !choices.isEmpty { param.choices = choices }
    }

    /// The value as text of an environment variable.
    private static func text(_ value: LocatedValue) -> String {
        if let text = value.string { return text }
        if let elements = value.elements { return "[\(elements.map { ($0.string ?? $0.shown).jsonLiteral }.joined(separator: ","))]" }
        return value.shown
    }
}
