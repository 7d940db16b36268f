/// A checked plugin manifest: parameters and functions.
public struct PluginManifest: Sendable {
    /// The plugin's file or name, for messages.
    public var source: String
    /// The parameters, including secrets.
    public var params: [Parameter]
    /// In the order of the manifest, which numbers the functions.
    public var functions: [FunctionDeclaration]
    /// Warnings, which do not prevent the plugin from being served.
    public var warnings: [Problem]

    /// Parses and checks a manifest.
    ///
    /// - Parameter source: the file name in messages.
    /// - Throws: all errors, including unknown and duplicate names.
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
    /// The plugin with only some of its functions.
    public func limited(to names: some Collection<String>) -> PluginManifest {
        var manifest = self
        let names = Set(names)
        manifest.functions = functions.filter { names.contains($0.name) }
        return manifest
    }
}

/// One function as the code declares it.
public struct FunctionDeclaration: Sendable {
    /// The name in URLs and `functions.json`; parts of groups are joined by dashes.
    public var name: String
    /// Its number among the functions of its plugin, from 0.
    public var index: Int
    /// The name in the code.
    public var entryPoint: String
    /// 1 or 2. The first generation has no streaming and runs one call at a time.
    public var generation: Int
    /// The trigger.
    public var trigger: Trigger
    /// The options of the code; ``resolved(in:parameters:)`` applies those of the file.
    public var options: DeclaredOptions
    /// The plugin's file or name, for messages.
    public var source: String
}

/// The trigger of a function.
public enum Trigger: Sendable, Equatable {
    /// A call of the callable protocol.
    case callable
    /// Any HTTP request.
    case https
    /// A change of the database, or of a user.
    case event(EventTrigger)
    /// A sign-up, a sign-in or a message to a user, which waits for the function.
    case blocking(BlockingTrigger)
    /// A due time.
    case schedule(ScheduleTrigger)
    /// A task of the function's queue.
    case task(TaskQueueTrigger)

    /// Whether clients call the function with requests.
    public var isForRequests: Bool {
        switch self {
        case .callable, .https: true
        case .event, .blocking, .schedule, .task: false
        }
    }

    /// The longest `timeoutSeconds` (spec functions 9).
    func timeoutSecondsMax(generation: Int) -> Double {
        if case .blocking = self { return 7 }
        if generation == 1 { return 540 }
        return switch self {
        case .event: 540
        case .schedule, .task: 1800
        case .callable, .https, .blocking: 3600
        }
    }

    /// The name, for use before "function".
    var noun: String {
        switch self {
        case .callable: "callable"
        case .https: "HTTP"
        case .event: "event"
        case .blocking: "blocking"
        case .schedule: "scheduled"
        case .task: "task queue"
        }
    }
}

/// The operation that waits for a function.
public struct BlockingTrigger: Sendable, Equatable {
    /// Such as `providers/cloud.auth/eventTypes/user.beforeCreate`.
    public var eventType: String
    /// The credentials of identity providers that the function sees: of `idToken`, `accessToken` and `refreshToken`.
    public var credentials: Set<String>

    /// A trigger for one type of event.
    public init(eventType: String, credentials: Set<String>) {
        self.eventType = eventType
        self.credentials = credentials
    }

    /// The form in which the deployed state keeps a trigger.
    public var stored: EventTrigger {
        let filters = Dictionary(uniqueKeysWithValues: credentials.map { ($0, "true") })
        return EventTrigger(eventType: eventType, filters: filters, pathPatterns: [:], retry: false)
    }
}

/// The events that trigger a function.
public struct EventTrigger: Sendable, Equatable, Codable {
    /// Such as `google.firebase.database.ref.v1.created`.
    public var eventType: String
    /// Attributes that must be equal.
    public var filters: [String: String]
    /// Attributes that must match a pattern, such as `ref: messages/{id}`.
    public var pathPatterns: [String: String]
    /// Whether a failed event function is retried.
    public var retry: Bool
}

/// A parameter of a plugin.
public struct Parameter: Sendable, Equatable {
    /// The type of a value.
    public enum Kind: String, Sendable {
        case string, int, float, boolean, list, secret
    }

    /// The environment variable of the value.
    public var name: String
    /// The type that its text is parsed as.
    public var kind: Kind
    /// A display name.
    public var label: String?
    /// The purpose of the value.
    public var summary: String?
    /// The default, as text of an environment variable.
    public var defaultText: String?
    /// A pattern for the text, with the message for a mismatch.
    var pattern: Pattern?
    var patternMessage: String?
    /// The allowed texts, for a choice.
    var choices: [String]?
}

/// Options set by the code; nil if not set.
public struct DeclaredOptions: Sendable, Equatable {
    /// The regions in the function's URLs.
    public var regions: [String]?
    /// Memory of one worker, 16 to 32,768.
    public var memoryMebibytes: Declared<Int>?
    /// Processors of one worker.
    public var cpu: Declared<ProcessorShare>?
    /// Concurrent calls of one worker, 1 to 1,000.
    public var concurrency: Declared<Int>?
    /// From the arrival of a call to its answer; 0 equals not set.
    public var timeoutSeconds: Declared<Double>?
    /// Workers that are kept running, 0 to 1,000.
    public var minInstances: Declared<Int>?
    /// Workers at most, up to 1,000; 0 equals not set.
    public var maxInstances: Declared<Int>?
    /// Labels for lists and metrics.
    public var labels: [String: String] = [:]
    /// Environment variables that the code sets.
    public var environment: [String: String] = [:]
    /// Names of the secrets that the function sees.
    public var secrets: [String] = []
    /// The networks that calls may come from.
    public var ingress: Ingress?
    /// The accounts that may call an HTTP function.
    public var invoker: InvokerSetting?
    /// Whether the function is neither served nor listed.
    public var omit: Declared<Bool>?
    /// Whether calls without a valid App Check token are refused.
    public var enforceAppCheck: Bool?
    /// Whether App Check tokens are marked as used.
    public var consumeAppCheckToken: Bool?
    /// The web origins that may read the answers.
    public var cors: CORSPolicy?
    /// The longest silence of a streaming answer.
    public var heartbeat: HeartbeatSetting?
    /// The kind of heartbeat that ends the silence.
    public var heartbeatStyle: HeartbeatFormat?
    /// The hosts that the function may send requests to.
    public var allowedHosts: [String]?

    /// No options.
    public init() {}
}

/// A value, or an expression over parameters.
public enum Declared<Value: Sendable & Equatable>: Sendable, Equatable {
    case value(Value)
    /// With its braces: `{{ params.NAME }}`.
    case expression(String)
}
