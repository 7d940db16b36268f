/// Combines the options of one function from all sources.
struct FunctionResolution {
    /// Defaults of options, read from the schema, which documents them.
    private static let hostDefaults = Field(schema: .functions, root: LocatedValue(content: .object([]), offset: 0))["defaults"]

    let declaration: FunctionDeclaration
    let configuration: Configuration
    let parameters: ParameterValues
    /// The options of `functions.json` for this function.
    private let overrides: FunctionOverrides
    private(set) var problems: [Problem] = []

    init(declaration: FunctionDeclaration, configuration: Configuration, parameters: ParameterValues) {
        self.declaration = declaration
        self.configuration = configuration
        self.parameters = parameters
        overrides = configuration.functions[declaration.name] ?? FunctionOverrides()
    }

    mutating func options() -> FunctionOptions {
        let (code, common, host) = (declaration.options, configuration.defaults, Self.hostDefaults)
        let memory = overrides.memoryBytes ?? codeMemory() ?? common.memoryBytes ?? MemoryAmount.bytes(host["memory"].string) ?? 0
        let cpu = overrides.cpu ?? codeCPU() ?? (declaration.generation == 1 ? nil : common.cpu)
        let processors = processors(cpu, memory)
        let concurrency = overrides.concurrency ?? codeInteger("concurrency", code.concurrency, 1...1000) ?? commonConcurrency(processors)
        let most = overrides.maxInstances ?? codeMaxInstances()
        let least = overrides.minInstances ?? codeInteger("minInstances", code.minInstances, 0...1000) ?? commonMinInstances(most)
        let isCallable = declaration.trigger == .callable
        let options = FunctionOptions(
            regions: overrides.regions ?? code.regions ?? common.regions ?? [configuration.region],
            memoryBytes: memory,
            cpu: processors,
            concurrency: concurrency ?? (processors >= 1 && declaration.generation > 1 ? 80 : 1),
            timeoutSeconds: timeoutSeconds(),
            minInstances: least,
            // A default maximum is at least the minimum.
            maxInstances: most ?? max(common.maxInstances ?? host["maxInstances"].int, least),
            enforceAppCheck: overrides.enforceAppCheck ?? code.enforceAppCheck ?? common.enforceAppCheck ?? host["enforceAppCheck"].bool,
            consumeAppCheckToken: overrides.consumeAppCheckToken ?? code.consumeAppCheckToken ?? common.consumeAppCheckToken
                ?? host["consumeAppCheckToken"].bool,
            cors: overrides.cors ?? code.cors ?? common.cors ?? CORSPolicy(isOn: isCallable),
            heartbeat: overrides.heartbeat ?? code.heartbeat ?? common.heartbeat ?? HeartbeatSetting(seconds: host["heartbeatSeconds"].double),
            heartbeatStyle: overrides.heartbeatStyle ?? code.heartbeatStyle ?? common.heartbeatStyle
                ?? host["heartbeatStyle"].choice(HeartbeatFormat.self),
            secrets: (code.secrets + common.secrets + overrides.secrets).withoutRepetition,
            labels: common.labels.merging(code.labels) { $1 }.merging(overrides.labels) { $1 },
            environment: code.environment,
            omit: overrides.omit ?? codeOmit() ?? common.omit ?? host["omit"].bool,
            ingress: overrides.ingress ?? code.ingress ?? common.ingress ?? host["ingressSettings"].choice(Ingress.self),
            invoker: isCallable ? .everybody : overrides.invoker ?? code.invoker ?? common.invoker ?? .everybody,
            retry: retry(), allowedHosts: overrides.allowedHosts ?? code.allowedHosts ?? common.allowedHosts)
        check(options, cpu, concurrency)
        return options
    }

    // MARK: Single options

    private mutating func codeMemory() -> Int? {
        codeInteger("availableMemoryMb", declaration.options.memoryMebibytes, 16...32768).map { $0 * MemoryAmount.mebibyte }
    }

    private mutating func codeCPU() -> ProcessorShare? {
        switch declaration.options.cpu {
        case nil: return nil
        case .value(let share): return share
        case .expression(let source):
            guard let value = evaluate("cpu", source) else { return nil }
            if value == .text("gcf_gen1") { return .firstGeneration }
            guard case .number(let number) = value, (0.08...1).contains(number) || [2, 4, 6, 8].contains(number) else {
                failCode("cpu", "expected a number from 0.08 to 1, or 2, 4, 6, 8 or \"gcf_gen1\", found \(value.shown) from \(source)")
                return nil
            }
            return .processors(number)
        }
    }

    private func processors(_ cpu: ProcessorShare?, _ memory: Int) -> Double {
        if declaration.generation == 1 { return ResourceRules.firstGenerationProcessors(memoryBytes: memory) }
        switch cpu {
        case .processors(let processors): return processors
        case .firstGeneration: return ResourceRules.firstGenerationProcessors(memoryBytes: memory)
        case nil: return ResourceRules.processors(memoryBytes: memory)
        }
    }

    /// The common default, if the function supports concurrent calls.
    private func commonConcurrency(_ processors: Double) -> Int? {
        declaration.generation > 1 && processors >= 1 ? configuration.defaults.concurrency : nil
    }

    private mutating func timeoutSeconds() -> Double {
        let most = declaration.trigger.timeoutSecondsMax(generation: declaration.generation)
        if let seconds = overrides.timeoutSeconds {
            if let message = declaration.timeoutViolation(seconds) { failFile("timeoutSeconds", message) }
            return seconds
        }
        let inCode = codeNumber("timeoutSeconds", declaration.options.timeoutSeconds)
        if let inCode, let message = declaration.timeoutViolation(inCode) { failCode("timeoutSeconds", message) }
        // The reference writes zero for "not set".
        if let inCode, inCode > 0 { return inCode }
        return min(configuration.defaults.timeoutSeconds ?? Self.hostDefaults["timeoutSeconds"].double, most)
    }

    /// The reference writes zero for "not set".
    private mutating func codeMaxInstances() -> Int? {
        codeInteger("maxInstances", declaration.options.maxInstances, 0...1000).flatMap { $0 == 0 ? nil : $0 }
    }

    /// The common default, limited by the function's own maximum.
    private func commonMinInstances(_ most: Int?) -> Int {
        min(configuration.defaults.minInstances ?? Self.hostDefaults["minInstances"].int, most ?? .max)
    }

    private mutating func codeOmit() -> Bool? {
        switch declaration.options.omit {
        case nil: return nil
        case .value(let isOmitted): return isOmitted
        case .expression(let source):
            guard let value = evaluate("omit", source) else { return nil }
            if case .bool(let isOmitted) = value { return isOmitted }
            failCode("omit", "expected true or false, found \(value.shown) from \(source)")
            return nil
        }
    }

    private func retry() -> Bool {
        if let retry = overrides.retry { return retry }
        if case .event(let trigger) = declaration.trigger { return trigger.retry }
        return configuration.defaults.retry ?? false
    }

    // MARK: Expressions

    private mutating func codeInteger(_ option: String, _ declared: Declared<Int>?, _ range: ClosedRange<Int>) -> Int? {
        switch declared {
        case nil: return nil
        case .value(let value): return value
        case .expression(let source):
            guard let value = evaluate(option, source) else { return nil }
            if case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) { return integer }
            let expected = "an integer from \(range.lowerBound) to \(range.upperBound)"
            failCode(option, "expected \(expected), found \(value.shown) from \(source)")
            return nil
        }
    }

    private mutating func codeNumber(_ option: String, _ declared: Declared<Double>?) -> Double? {
        switch declared {
        case nil: return nil
        case .value(let value): return value
        case .expression(let source):
            guard let value = evaluate(option, source) else { return nil }
            if case .number(let number) = value { return number }
            failCode(option, "expected a number, found \(value.shown) from \(source)")
            return nil
        }
    }

    private mutating func evaluate(_ option: String, _ source: String) -> Expression.Value? {
        do {
            return try Expression.evaluate(source, with: parameters)
        } catch {
            failCode(option, "\(source) cannot be evaluated: \(error.message)")
            return nil
        }
    }

    // MARK: Checks

    private mutating func check(_ options: FunctionOptions, _ cpu: ProcessorShare?, _ concurrency: Int?) {
        let violations = ResourceRules.violations(
            memoryBytes: options.memoryBytes, cpu: cpu, concurrency: concurrency, generation: declaration.generation)
        for violation in violations { fail(violation.option, violation.message) }
        if options.minInstances > options.maxInstances {
            fail("minInstances", "expected at most maxInstances, which is \(options.maxInstances), found \(options.minInstances)")
        }
        if options.labels.count > LabelRules.countMax {
            fail("labels", "expected at most \(LabelRules.countMax) labels, found \(options.labels.count)")
        }
    }

    /// Reports a problem at the last source that sets the option.
    private mutating func fail(_ option: String, _ message: String) {
        if overrides.positions[option] != nil { failFile(option, message) } else { failCode(option, message) }
    }

    private mutating func failFile(_ option: String, _ message: String) {
        let path = DocumentPath().appending(key: "functions").appending(key: declaration.name).appending(key: option)
        problems.append(
            Problem(file: configuration.file, position: overrides.positions[option] ?? nil, path: path.description, message: message))
    }

    private mutating func failCode(_ option: String, _ message: String) {
        let path = DocumentPath().appending(key: "endpoints").appending(key: declaration.name).appending(key: option)
        problems.append(Problem(file: declaration.source, path: path.description, message: message))
    }
}

extension Expression.Value {
    var shown: String {
        switch self {
        case .text(let text): text.quoted
        case .number(let number): number.plain
        case .bool(let flag): flag ? "true" : "false"
        }
    }
}

extension [String] {
    /// Unique elements, in the order of their first occurrences.
    var withoutRepetition: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
