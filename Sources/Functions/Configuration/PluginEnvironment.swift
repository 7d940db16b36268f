/// The environment of a plugin's workers: parameters, the secrets that their functions name, and variables about the host. It contains
/// nothing of the host's own environment.
public struct PluginEnvironment: Sendable {
    /// Values for the expressions of the manifest.
    public let parameters: ParameterValues
    /// Warnings about the environment files.
    public let warnings: [Problem]
    /// The contents of the `.env` files and the defaults of parameters.
    private let variables: [String: String]
    private let secrets: [String: String]
    private let functions: [FunctionDeclaration]
    private let functionsByName: [String: [FunctionDeclaration]]
    private let configuration: Configuration
    private let builtIns: BuiltInVariables

    /// Reads the plugin's environment files: `.env`, `.env.PROJECT`, in development mode `.env.local`, with later files overriding earlier
    /// ones; and `.secret.local`.
    ///
    /// - Parameters:
    ///   - address: host and port at which plugins and clients reach the host, such as `127.0.0.1:5001`.
    ///   - variables: replaces the `.env` files; secrets are still read from their file.
    ///   - isDeployed: whether the plugin was deployed from elsewhere, so that messages must tell which files they mean.
    /// - Throws: every invalid line, and every missing parameter and secret.
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
            functions: manifest.functions, functionsByName: Dictionary(grouping: manifest.functions, by: \.name), configuration: configuration,
            builtIns: builtIns)
    }

    /// The variables of the plugin's `.env` files, without checks against its manifest.
    ///
    /// - Throws: every invalid line.
    public static func variables(of plugin: PluginSettings, in configuration: Configuration) throws(ConfigurationErrors) -> [String: String] {
        var reader = EnvironmentReader(directory: plugin.environmentDirectory, configuration: configuration)
        reader.readVariables()
        guard reader.problems.isEmpty else { throw ConfigurationErrors(reader.problems) }
        return reader.variables
    }

    /// The secrets of a function, with their values.
    public func secrets(of name: String) -> [String: String] {
        var found: [String: String] = [:]
        for function in functionsByName[name] ?? [] {
            for secret in function.secretNames(in: configuration) { found[secret] = secrets[secret] }
        }
        return found
    }

    /// The environment of a worker that runs all functions of the plugin.
    public var forAllFunctions: [String: String] {
        environment(for: functions.map(\.name))
    }

    /// The environment of a worker that runs only these functions, without secrets of other functions.
    public func environment(for names: some Sequence<String>) -> [String: String] {
        let names = Set(names)
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
    /// The names of the function's secrets: from the code, `defaults` and `functions.NAME`.
    func secretNames(in configuration: Configuration) -> [String] {
        let overrides = configuration.functions[name]?.secrets ?? []
        return (options.secrets + configuration.defaults.secrets + overrides).withoutRepetition
    }

    /// Whether the function is certainly omitted; an expression counts as false here.
    func isOmitted(in configuration: Configuration) -> Bool {
        configuration.functions[name]?.omit ?? (options.omit.map { $0 == .value(true) } ?? configuration.defaults.omit ?? false)
    }
}
