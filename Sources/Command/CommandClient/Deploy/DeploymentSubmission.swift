public import HearthJSON

/// One plugin of a deployment.
public struct DeployedPlugin {
    /// The name in `functions.json`.
    public let name: String
    /// The library; the host may lack it.
    public let file: ArtifactFile
    /// Parameters and other variables; never secrets.
    public let environment: [String: String]
    /// The options of single functions in `functions.json`.
    public let functions: JSONObject
    /// The options of all functions in `functions.json`.
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

/// A deployment request to the host.
public struct DeploymentSubmission {
    /// The plugins with selected functions; the host refuses one whose library it lacks.
    public var plugins: [DeployedPlugin]
    /// The names of the selected functions; nil for all of the plugins.
    public var names: [String]?
    /// Whether only to plan (dry run).
    public var validatesOnly: Bool
    /// Whether functions that vanished from their plugins are deleted.
    public var removes: Bool
    /// The deployed state that was planned for.
    public var expectedRevision: Int?

    /// A request; without a revision it applies to any deployed state.
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
