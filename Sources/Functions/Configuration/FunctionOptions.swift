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
