/// What a plugin says of itself, checked: its parameters and its functions.
public struct PluginManifest: Sendable {
    /// The plugin's file or name, for messages.
    public var source: String
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
    public var name: String
    /// Its number among the functions of its plugin, from 0.
    public var index: Int
    public var entryPoint: String
    /// 1 or 2. The first generation has no streaming and runs one call at a time.
    public var generation: Int
    public var trigger: Trigger
    public var options: DeclaredOptions
    /// The plugin's file or name, for messages.
    public var source: String
}

/// What starts a function.
public enum Trigger: Sendable, Equatable {
    case callable
    case https
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
public struct EventTrigger: Sendable, Equatable {
    /// Such as `google.firebase.database.ref.v1.created`.
    public var eventType: String
    /// Attributes that must be equal.
    public var filters: [String: String]
    /// Attributes that must match a pattern, such as `ref: messages/{id}`.
    public var pathPatterns: [String: String]
    public var retry: Bool
}

/// A value that a plugin asks for by name.
public struct Parameter: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case string, int, float, boolean, list, secret
    }

    public var name: String
    public var kind: Kind
    public var label: String?
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
    public var regions: [String]?
    public var memoryMebibytes: Declared<Int>?
    public var cpu: Declared<ProcessorShare>?
    public var concurrency: Declared<Int>?
    public var timeoutSeconds: Declared<Double>?
    public var minInstances: Declared<Int>?
    public var maxInstances: Declared<Int>?
    public var labels: [String: String] = [:]
    /// Variables that the code sets for itself.
    public var environment: [String: String] = [:]
    public var secrets: [String] = []
    public var ingress: Ingress?
    public var invoker: Invoker?
    public var omit: Declared<Bool>?
    public var enforceAppCheck: Bool?
    public var consumeAppCheckToken: Bool?
    public var cors: CORSPolicy?
    public var heartbeat: Heartbeat?
    public var heartbeatStyle: HeartbeatStyle?

    public init() {}
}

/// A value, or the expression that gives it once the parameters are known.
public enum Declared<Value: Sendable & Equatable>: Sendable, Equatable {
    case value(Value)
    /// With its braces: `{{ params.NAME }}`.
    case expression(String)
}
