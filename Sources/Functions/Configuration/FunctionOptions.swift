/// The options that a function runs with: those of `functions.json` over those of the code over the host's defaults.
public struct FunctionOptions: Sendable, Equatable {
    /// In whose URLs the function appears; never empty.
    public var regions: [String]
    /// Of one worker, 16 MiB to 32 GiB; a worker that takes more is replaced.
    public var memoryBytes: Int
    /// Processors, such as 0.5 or 2.
    public var cpu: Double
    /// Calls that one worker runs at the same time.
    public var concurrency: Int
    /// From the arrival of a call to its answer: at most 3,600, or 540 for event functions and the first generation.
    public var timeoutSeconds: Double
    /// Workers that are kept running without any calls.
    public var minInstances: Int
    /// At least 1, and at least `minInstances`.
    public var maxInstances: Int
    /// Whether calls without a valid App Check token are refused with 401.
    public var enforceAppCheck: Bool
    /// Whether each App Check token is marked as used, and the function told.
    public var consumeAppCheckToken: Bool
    /// Which web origins may read the answers.
    public var cors: CORSPolicy
    /// How long a streaming answer may be silent.
    public var heartbeat: HeartbeatSetting
    /// What breaks the silence.
    public var heartbeatStyle: HeartbeatFormat
    /// Names of the secrets that the function sees in its environment, each once.
    public var secrets: [String]
    /// What lists and metrics show beside the function's name.
    public var labels: [String: String]
    /// Variables that the code sets for itself.
    public var environment: [String: String]
    /// The function is neither served nor listed.
    public var omit: Bool
    /// Where calls may come from.
    public var ingress: Ingress
    /// Who may call it; everybody for callable functions, whatever is asked for.
    public var invoker: InvokerSetting
    /// Whether an event function is run again when it fails.
    public var retry: Bool

    /// ``timeoutSeconds`` in milliseconds, rounded up.
    public var timeoutMilliseconds: UInt64 { UInt64((timeoutSeconds * 1000).rounded(.up)) }
}

extension FunctionDeclaration {
    /// The options that the function runs with.
    ///
    /// - Parameter parameters: values for the expressions of the code, from `PluginEnvironment`.
    /// - Throws: expressions that cannot be evaluated, and options that do not fit each other or the trigger.
    public func resolved(
        in configuration: Configuration, parameters: ParameterValues = ParameterValues()
    ) throws(ConfigurationErrors) -> FunctionOptions {
        var resolution = FunctionResolution(declaration: self, configuration: configuration, parameters: parameters)
        let options = resolution.options()
        guard resolution.problems.isEmpty else { throw ConfigurationErrors(resolution.problems) }
        return options
    }
}

/// Options that `functions.json` gives to one function, or to all of them. Nil leaves an option as the code has it.
public struct FunctionOverrides: Sendable, Equatable {
    /// Regions in whose URLs the function appears.
    public var regions: [String]?
    /// Of one worker, 16 MiB to 32 GiB.
    public var memoryBytes: Int?
    /// From the arrival of a call to its answer, 1 to 3,600; what the trigger allows is checked when the plugin is loaded.
    public var timeoutSeconds: Double?
    /// Processors of one worker.
    public var cpu: ProcessorShare?
    /// Calls of one worker at the same time, 1 to 1,000.
    public var concurrency: Int?
    /// Workers that are kept running, 0 to 1,000.
    public var minInstances: Int?
    /// Workers at most, 1 to 1,000.
    public var maxInstances: Int?
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
    /// Added to the secrets that the code names.
    public var secrets: [String] = []
    /// Added to the labels that the code gives.
    public var labels: [String: String] = [:]
    /// Whether the function is neither served nor listed.
    public var omit: Bool?
    /// Where calls may come from.
    public var ingress: Ingress?
    /// Who may call an HTTP function; of no effect on callable ones.
    public var invoker: InvokerSetting?
    /// Whether an event function is run again when it fails.
    public var retry: Bool?

    /// Where each option stands in the file, by its key, for what is found out only when the plugin is loaded.
    var positions: [String: Position?] = [:]

    /// No override at all.
    public init() {}
}

/// How much of the machine's processors a worker is planned with.
public enum ProcessorShare: Sendable, Equatable {
    /// A part of one from 0.08, or 1, 2, 4, 6 or 8.
    case processors(Double)
    /// What the first generation gave to the function's memory.
    case firstGeneration
}

/// When a streaming answer sends a sign of life.
public enum HeartbeatSetting: Sendable, Equatable {
    case never
    /// After this time without a chunk; at most 3,600.
    case every(seconds: Double)

    /// Zero, negative and nil are never.
    init(seconds: Double?) {
        if let seconds, seconds > 0 { self = .every(seconds: seconds) } else { self = .never }
    }
}

/// What the sign of life is made of (spec functions 6.1).
public enum HeartbeatFormat: String, Sendable {
    /// The next frame, begun early with blanks: every client SDK reads over them.
    case padding
    /// `: ping` as the reference server has it, on which the Apple and Android SDKs fail.
    case comment
    /// None.
    case off
}

/// Where calls of a function may come from.
public enum Ingress: String, Sendable {
    case all = "ALLOW_ALL"
    /// Only from this machine and private networks.
    case internalOnly = "ALLOW_INTERNAL_ONLY"
    /// The same: a host on its own has no load balancer of Google's.
    case internalAndLoadBalancer = "ALLOW_INTERNAL_AND_GCLB"
}

/// Who may call an HTTP function.
public enum InvokerSetting: Sendable, Equatable {
    case everybody
    /// Only the host's administrator.
    case nobody
    /// These accounts; as with ``nobody``, only the host's administrator can call, since a host knows no other.
    case accounts([String])

    /// Why names do not go together, or nil.
    static func refusal(of names: [String]) -> String? {
        guard names.count > 1, let word = names.first(where: { $0 == "public" || $0 == "private" }) else { return nil }
        return "\(word.quoted) stands alone, not in a list of several"
    }

    /// - Parameter names: `public`, `private`, or accounts.
    init(names: [String]) {
        switch names {
        case ["public"]: self = .everybody
        case ["private"]: self = .nobody
        default: self = .accounts(names)
        }
    }
}
