public import HearthJSON

/// One plugin of a deployment.
public struct DeployedPlugin {
    /// As in `functions.json`.
    public let name: String
    /// The library, which the host may have or not.
    public let file: ArtifactFile
    /// Parameters and other variables; never secrets.
    public let environment: [String: String]
    /// The options that `functions.json` gives to single functions.
    public let functions: JSONObject
    /// The options that it gives to all.
    public let defaults: JSONObject
    /// The library's manifest, for a dry run: the host plans without the library.
    public let manifest: JSONValue?

    /// One plugin as `functions.json` describes it.
    public init(
        name: String, file: ArtifactFile, environment: [String: String], functions: JSONObject, defaults: JSONObject = [:],
        manifest: JSONValue? = nil
    ) {
        self.name = name
        self.file = file
        self.environment = environment
        self.functions = functions
        self.defaults = defaults
        self.manifest = manifest
    }

    var json: JSONValue {
        var object = JSONObject([("artifact", .string(file.hash)), ("file", .string(file.name))])
        object["environment"] = .object(JSONObject(environment.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        object["functions"] = .object(functions)
        if !defaults.isEmpty { object["defaults"] = .object(defaults) }
        if let manifest { object["manifest"] = manifest }
        return .object(object)
    }
}

/// What is asked of the host.
public struct DeploymentSubmission {
    /// The plugins whose functions are meant; the host refuses one whose library it lacks.
    public var plugins: [DeployedPlugin]
    /// The names of the functions that are meant; nil for all of the plugins.
    public var names: [String]?
    /// Whether only to say what would happen.
    public var validatesOnly: Bool
    /// Whether functions that vanished from their plugins are deleted.
    public var removes: Bool
    /// The deployed state that the deployment was planned for.
    public var expectedRevision: Int?

    /// What is asked; without a revision it holds for whatever is deployed.
    public init(plugins: [DeployedPlugin], names: [String]? = nil, validatesOnly: Bool, removes: Bool, expectedRevision: Int? = nil) {
        self.plugins = plugins
        self.names = names
        self.validatesOnly = validatesOnly
        self.removes = removes
        self.expectedRevision = expectedRevision
    }

    var json: JSONValue {
        var object = JSONObject([("plugins", .object(JSONObject(plugins.map { ($0.name, $0.json) })))])
        if let names { object["names"] = .array(names.map { .string($0) }) }
        object["validateOnly"] = .bool(validatesOnly)
        object["removes"] = .bool(removes)
        if let expectedRevision { object["expectedRevision"] = .int(Int64(expectedRevision)) }
        return .object(object)
    }
}
