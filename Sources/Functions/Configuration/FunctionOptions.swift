/// The effective options of a function: `functions.json` overrides the code, which overrides the host's defaults.
public struct FunctionOptions: Sendable, Equatable {
    /// The regions in the function's URLs; never empty.
    public var regions: [String]
    /// Memory of one worker, 16 MiB to 32 GiB; a worker that exceeds it is replaced.
    public var memoryBytes: Int
    /// Processors, such as 0.5 or 2.
    public var cpu: Double
    /// Concurrent calls of one worker.
    public var concurrency: Int
    /// From the arrival of a call to its answer: at most 3,600, or 540 for event functions and the first generation.
    public var timeoutSeconds: Double
    /// Workers that are kept running without calls.
    public var minInstances: Int
    /// At least 1, and at least `minInstances`.
    public var maxInstances: Int
    /// Whether calls without a valid App Check token are refused with 401.
    public var enforceAppCheck: Bool
    /// Whether App Check tokens are marked as used, and the function is informed.
    public var consumeAppCheckToken: Bool
    /// The web origins that may read the answers.
    public var cors: CORSPolicy
    /// The longest silence of a streaming answer.
    public var heartbeat: HeartbeatSetting
    /// The kind of heartbeat that ends the silence.
    public var heartbeatStyle: HeartbeatFormat
    /// Names of the secrets in the function's environment, unique.
    public var secrets: [String]
    /// Labels for lists and metrics.
    public var labels: [String: String]
    /// Environment variables that the code sets.
    public var environment: [String: String]
    /// Whether the function is neither served nor listed.
    public var omit: Bool
    /// The networks that calls may come from.
    public var ingress: Ingress
    /// The accounts that may call it; everyone for callable functions, regardless of the option.
    public var invoker: InvokerSetting
    /// Whether a failed event function is retried.
    public var retry: Bool
    /// The hosts that the function may send requests to; nil for every public one.
    public var allowedHosts: [String]?

    /// ``timeoutSeconds`` in milliseconds, rounded up.
    public var timeoutMilliseconds: UInt64 { UInt64((timeoutSeconds * 1000).rounded(.up)) }
}

extension FunctionDeclaration {
    /// The effective options of the function.
    ///
    /// - Parameter parameters: values for the expressions of the code, from `PluginEnvironment`.
    /// - Throws: expressions that cannot be evaluated, and options that contradict each other or the trigger.
    public func resolved(
        in configuration: Configuration, parameters: ParameterValues = ParameterValues()
    ) throws(ConfigurationErrors) -> FunctionOptions {
        var resolution = FunctionResolution(declaration: self, configuration: configuration, parameters: parameters)
        let options = resolution.options()
        guard resolution.problems.isEmpty else { throw ConfigurationErrors(resolution.problems) }
        return options
    }
}

/// Options that `functions.json` sets for one function, or for all. Nil keeps the option of the code.
public struct FunctionOverrides: Sendable, Equatable {
    /// The regions in the function's URLs.
    public var regions: [String]?
    /// Memory of one worker, 16 MiB to 32 GiB.
    public var memoryBytes: Int?
    /// From the arrival of a call to its answer, 1 to 3,600; the limit of the trigger is checked when the plugin is loaded.
    public var timeoutSeconds: Double?
    /// Processors of one worker.
    public var cpu: ProcessorShare?
    /// Concurrent calls of one worker, 1 to 1,000.
    public var concurrency: Int?
    /// Workers that are kept running, 0 to 1,000.
    public var minInstances: Int?
    /// Workers at most, 1 to 1,000.
    public var maxInstances: Int?
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
    /// Added to the secrets of the code.
    public var secrets: [String] = []
    /// Added to the labels of the code.
    public var labels: [String: String] = [:]
    /// Whether the function is neither served nor listed.
    public var omit: Bool?
    /// The networks that calls may come from.
    public var ingress: Ingress?
    /// The accounts that may call an HTTP function; without effect for callable ones.
    public var invoker: InvokerSetting?
    /// Whether a failed event function is retried.
    public var retry: Bool?
    /// The hosts that the function may send requests to.
    public var allowedHosts: [String]?

    /// The position of each option in the file, by key, for problems that are found when the plugin is loaded.
    var positions: [String: Position?] = [:]

    /// No overrides.
    public init() {}
}

/// The share of processors of a worker.
public enum ProcessorShare: Sendable, Equatable {
    /// A fraction from 0.08, or 1, 2, 4, 6 or 8.
    case processors(Double)
    /// The share that the first generation assigned to the function's memory.
    case firstGeneration
}

/// The interval of heartbeats of a streaming answer.
public enum HeartbeatSetting: Sendable, Equatable {
    case never
    /// After this time without a chunk; at most 3,600.
    case every(seconds: Double)

    /// Zero, negative numbers and nil mean never.
    init(seconds: Double?) {
        if let seconds, seconds > 0 { self = .every(seconds: seconds) } else { self = .never }
    }
}

/// The form of a heartbeat (spec functions 6.1).
public enum HeartbeatFormat: String, Sendable {
    /// Blanks at the start of the next frame: every client SDK skips them.
    case padding
    /// `: ping`, as in the reference server; the Apple and Android SDKs fail on it.
    case comment
    /// No heartbeats.
    case off
}

/// The networks that calls of a function may come from.
public enum Ingress: String, Sendable {
    case all = "ALLOW_ALL"
    /// Only this machine and private networks.
    case internalOnly = "ALLOW_INTERNAL_ONLY"
    /// The same: a self-hosted host has no Google load balancer.
    case internalAndLoadBalancer = "ALLOW_INTERNAL_AND_GCLB"
}

/// The accounts that may call an HTTP function.
public enum InvokerSetting: Sendable, Equatable {
    case everybody
    /// Only the host's administrator.
    case nobody
    /// These accounts; like ``nobody``, because a host knows no accounts besides the administrator.
    case accounts([String])

    /// The reason why names cannot be combined; nil if they can.
    static func refusal(of names: [String]) -> String? {
        guard names.count > 1, let word = names.first(where: { $0 == "public" || $0 == "private" }) else { return nil }
        return "\(word.quoted) cannot be combined with others in a list"
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
