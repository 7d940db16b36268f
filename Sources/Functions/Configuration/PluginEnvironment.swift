/// What the workers of one plugin see in their environment: parameters, the secrets that their functions name, and what the host
/// tells every function. Nothing of the host's own environment is in it.
public struct PluginEnvironment: Sendable {
    /// Values for the expressions of the manifest.
    public let parameters: ParameterValues
    /// What is doubtful in the environment files.
    public let warnings: [Problem]
    /// The contents of the `.env` files and the defaults of the parameters.
    private let variables: [String: String]
    private let secrets: [String: String]
    private let functions: [FunctionDeclaration]
    private let configuration: Configuration
    private let builtIns: BuiltInVariables

    /// Reads the plugin's environment files: `.env`, `.env.PROJECT`, in development `.env.local`, later ones over earlier ones; and
    /// `.secret.local`.
    ///
    /// - Parameters:
    ///   - address: host and port at which plugins and clients reach the host, such as `127.0.0.1:5001`.
    ///   - variables: what stands in the place of the `.env` files; secrets are read from their file all the same.
    ///   - isDeployed: whether the plugin was deployed from elsewhere, so that messages have to say whose files they mean.
    /// - Throws: every line that cannot be read, and every parameter and secret that is needed and has no value.
    public static func load(
        plugin: PluginSettings, manifest: PluginManifest, configuration: Configuration, address: String, variables: [String: String]? = nil,
        isDeployed: Bool = false
    ) throws(ConfigurationErrors) -> PluginEnvironment {
        var reader = EnvironmentReader(directory: plugin.environmentDirectory, configuration: configuration)
        if let variables { reader.take(variables, for: plugin.name) } else { reader.readVariables() }
        reader.readSecrets()
        let builtIns = BuiltInVariables(configuration: configuration, address: address, revision: plugin.name)
        let parameters = reader.parameters(manifest.params, builtIns: builtIns, plugin: plugin.name)
        reader.requireSecrets(manifest.functions, isDeployed: isDeployed)
        guard reader.problems.isEmpty else { throw ConfigurationErrors(reader.problems) }
        return PluginEnvironment(
            parameters: parameters, warnings: reader.warnings, variables: reader.variables, secrets: reader.secrets,
            functions: manifest.functions, configuration: configuration, builtIns: builtIns)
    }

    /// The variables that the plugin's `.env` files give, without a look at its manifest.
    ///
    /// - Throws: every line that cannot be read.
    public static func variables(of plugin: PluginSettings, in configuration: Configuration) throws(ConfigurationErrors) -> [String: String] {
        var reader = EnvironmentReader(directory: plugin.environmentDirectory, configuration: configuration)
        reader.readVariables()
        guard reader.problems.isEmpty else { throw ConfigurationErrors(reader.problems) }
        return reader.variables
    }

    /// The secrets that reach a function, with their values.
    public func secrets(of name: String) -> [String: String] {
        var found: [String: String] = [:]
        for function in functions where function.name == name {
            for secret in function.secretNames(in: configuration) { found[secret] = secrets[secret] }
        }
        return found
    }

    /// The environment of a worker that runs all functions of the plugin.
    public var forAllFunctions: [String: String] {
        environment(for: functions.map(\.name))
    }

    /// The environment of a worker that runs these functions only: secrets of other functions are not in it.
    public func environment(for names: [String]) -> [String: String] {
        let served = functions.filter { names.contains($0.name) }
        var environment: [String: String] = [:]
        for function in served {
            for (key, value) in function.options.environment where EnvironmentRules.refusal(of: key) == nil { environment[key] = value }
        }
        environment.merge(variables) { $1 }
        for name in served.flatMap({ $0.secretNames(in: configuration) }) { environment[name] = secrets[name] }
        environment.merge(builtIns.environment(for: served)) { $1 }
        return environment
    }
}

extension FunctionDeclaration {
    /// The secrets that reach the function: those of the code, of `defaults` and of `functions.NAME`.
    func secretNames(in configuration: Configuration) -> [String] {
        let overrides = configuration.functions[name]?.secrets ?? []
        return (options.secrets + configuration.defaults.secrets + overrides).withoutRepetition
    }

    /// Whether the function is certainly left out; an expression is taken as false here.
    func isOmitted(in configuration: Configuration) -> Bool {
        configuration.functions[name]?.omit ?? (options.omit.map { $0 == .value(true) } ?? configuration.defaults.omit ?? false)
    }
}
