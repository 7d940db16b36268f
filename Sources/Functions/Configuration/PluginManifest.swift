/// What a plugin says of itself, checked: its parameters and its functions.
public struct PluginManifest: Sendable {
    /// The plugin's file or name, for messages.
    public var source: String
    /// What the functions read by name, secrets included.
    public var params: [Parameter]
    /// In the order of the manifest, which is that of the numbers by which the plugin is called.
    public var functions: [FunctionDeclaration]
    /// What is doubtful and does not keep the plugin from being served.
    public var warnings: [Problem]

    /// Reads and checks a manifest.
    ///
    /// - Parameter source: what messages name as the file.
    /// - Throws: everything that is wrong with it, unknown keys and names that stand twice included.
    public init(parsing bytes: [UInt8], source: String) throws(ConfigurationErrors) {
        let text = SourceText(file: source, bytes: bytes)
        let (document, syntaxProblems) = LocatedParser.parse(text)
        guard let document else { throw ConfigurationErrors(syntaxProblems) }
        let violations = SchemaValidator.validate(document, against: .manifest, text: text)
        var reader = ManifestReader(text: text, violations: violations)
        let root = Field(schema: .manifest, root: document)
        self.source = source
        params = reader.params(root["params"])
        functions = reader.functions(root["endpoints"])
        warnings = reader.warnings
        let problems = (syntaxProblems + reader.problems).inOrder
        guard problems.isEmpty else { throw ConfigurationErrors(problems) }
    }
}

extension PluginManifest {
    /// The same plugin with some of its functions only.
    public func limited(to names: some Collection<String>) -> PluginManifest {
        var manifest = self
        manifest.functions = functions.filter { names.contains($0.name) }
        return manifest
    }
}

/// One function as the code declares it.
public struct FunctionDeclaration: Sendable {
    /// What URLs and `functions.json` call it; parts of groups are joined by dashes.
    public var name: String
    /// Its number among the functions of its plugin, from 0.
    public var index: Int
    /// What the code calls it.
    public var entryPoint: String
    /// 1 or 2. The first generation has no streaming and runs one call at a time.
    public var generation: Int
    /// What starts it.
    public var trigger: Trigger
    /// As the code gives them; ``resolved(in:parameters:)`` lays the file's over them.
    public var options: DeclaredOptions
    /// The plugin's file or name, for messages.
    public var source: String
}

/// What starts a function.
public enum Trigger: Sendable, Equatable {
    /// A call of the callable protocol.
    case callable
    /// Any HTTP request.
    case https
    /// A change of the database.
    case event(EventTrigger)

    /// The longest `timeoutSeconds` (spec functions 9).
    func timeoutSecondsMax(generation: Int) -> Double {
        if generation == 1 { return 540 }
        if case .event = self { return 540 }
        return 3600
    }

    /// In words that fit before "function".
    var noun: String {
        switch self {
        case .callable: "callable"
        case .https: "HTTP"
        case .event: "event"
        }
    }
}

/// Which events start a function.
public struct EventTrigger: Sendable, Equatable, Codable {
    /// Such as `google.firebase.database.ref.v1.created`.
    public var eventType: String
    /// Attributes that must be equal.
    public var filters: [String: String]
    /// Attributes that must match a pattern, such as `ref: messages/{id}`.
    public var pathPatterns: [String: String]
    /// Whether the function is run again when it fails.
    public var retry: Bool
}

/// A value that a plugin asks for by name.
public struct Parameter: Sendable, Equatable {
    /// What a value can be.
    public enum Kind: String, Sendable {
        case string, int, float, boolean, list, secret
    }

    /// The environment variable of the value.
    public var name: String
    /// What its text is read as.
    public var kind: Kind
    /// A short name for people.
    public var label: String?
    /// What the value is for.
    public var summary: String?
    /// As the environment variable would hold it.
    public var defaultText: String?
    /// What the text has to match, with the sentence to say when it does not.
    var pattern: Pattern?
    var patternMessage: String?
    /// The texts to choose from, where it is a choice.
    var choices: [String]?
}

/// Options as the code gives them; nil where it says nothing.
public struct DeclaredOptions: Sendable, Equatable {
    /// In whose URLs the function appears.
    public var regions: [String]?
    /// Of one worker, 16 to 32,768.
    public var memoryMebibytes: Declared<Int>?
    /// Processors of one worker.
    public var cpu: Declared<ProcessorShare>?
    /// Calls of one worker at the same time, 1 to 1,000.
    public var concurrency: Declared<Int>?
    /// From the arrival of a call to its answer; 0 is as good as nothing.
    public var timeoutSeconds: Declared<Double>?
    /// Workers that are kept running, 0 to 1,000.
    public var minInstances: Declared<Int>?
    /// Workers at most, up to 1,000; 0 is as good as nothing.
    public var maxInstances: Declared<Int>?
    /// What lists and metrics show beside the function's name.
    public var labels: [String: String] = [:]
    /// Variables that the code sets for itself.
    public var environment: [String: String] = [:]
    /// Names of the secrets that the function sees.
    public var secrets: [String] = []
    /// Where calls may come from.
    public var ingress: Ingress?
    /// Who may call an HTTP function.
    public var invoker: InvokerSetting?
    /// Whether the function is neither served nor listed.
    public var omit: Declared<Bool>?
    /// Whether calls without a valid App Check token are refused.
    public var enforceAppCheck: Bool?
    /// Whether App Check tokens are marked as used.
    public var consumeAppCheckToken: Bool?
    /// Which web origins may read the answers.
    public var cors: CORSPolicy?
    /// How long a streaming answer may be silent.
    public var heartbeat: HeartbeatSetting?
    /// What breaks the silence.
    public var heartbeatStyle: HeartbeatFormat?

    /// Nothing is said.
    public init() {}
}

/// A value, or the expression that gives it once the parameters are known.
public enum Declared<Value: Sendable & Equatable>: Sendable, Equatable {
    case value(Value)
    /// With its braces: `{{ params.NAME }}`.
    case expression(String)
}
