/// The options that a function runs with: those of `functions.json` over those of the code over the host's defaults.
public struct FunctionOptions: Sendable, Equatable {
    public var regions: [String]
    public var memoryBytes: Int
    /// Processors, such as 0.5 or 2.
    public var cpu: Double
    /// Calls that one worker runs at the same time.
    public var concurrency: Int
    public var timeoutSeconds: Double
    public var minInstances: Int
    /// At least 1, and at least `minInstances`.
    public var maxInstances: Int
    public var enforceAppCheck: Bool
    public var consumeAppCheckToken: Bool
    public var cors: CORSPolicy
    public var heartbeat: Heartbeat
    public var heartbeatStyle: HeartbeatStyle
    public var secrets: [String]
    public var labels: [String: String]
    /// Variables that the code sets for itself.
    public var environment: [String: String]
    /// The function is neither served nor listed.
    public var omit: Bool
    public var ingress: Ingress
    public var invoker: Invoker
    /// For event functions.
    public var retry: Bool

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
