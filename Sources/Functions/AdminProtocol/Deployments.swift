package import HearthJSON

/// `POST deployments`: plugins to deploy, and which of their functions.
package struct DeploymentRequest: Sendable, Hashable {
    /// One plugin as its author's `functions.json` describes it.
    package struct Plugin: Sendable, Hashable {
        package var name: String
        /// The SHA-256 of the library.
        package var artifact: String
        /// The name of the library's file, for messages.
        package var file: String
        /// Parameters and other variables; never secrets.
        package var environment: [String: String]
        /// The options of single functions.
        package var functions: JSONObject
        /// The options of all functions.
        package var defaults: JSONObject
        /// The library's manifest, sent with a dry run; nil to read it from the library.
        package var manifest: JSONValue?

        package init(
            name: String, artifact: String, file: String, environment: [String: String], functions: JSONObject, defaults: JSONObject = [:],
            manifest: JSONValue? = nil
        ) {
            self.name = name
            self.artifact = artifact
            self.file = file
            self.environment = environment
            self.functions = functions
            self.defaults = defaults
            self.manifest = manifest
        }
    }

    package var plugins: [Plugin]
    /// The functions to deploy; nil for all.
    package var only: FunctionFilter?
    /// The same by complete names.
    package var names: Set<String>?
    /// Whether only to plan.
    package var validateOnly: Bool
    /// Whether functions that the plugins no longer contain are deleted.
    package var removes: Bool
    /// Whether functions get new versions although nothing differs.
    package var force: Bool
    /// The revision that the caller has seen; nil for any.
    package var expectedRevision: Int?

    /// The most plugins of one request.
    package static let pluginsMax = 100

    package init(
        plugins: [Plugin], names: Set<String>? = nil, validateOnly: Bool, removes: Bool, force: Bool = false, expectedRevision: Int? = nil
    ) {
        self.plugins = plugins
        self.names = names
        self.validateOnly = validateOnly
        self.removes = removes
        self.force = force
        self.expectedRevision = expectedRevision
    }

    package var json: JSONValue {
        var object: JSONObject = ["plugins": .object(JSONObject(plugins.map { ($0.name, $0.json) }))]
        if let only { object["only"] = .array(only.items.map { .string($0.text) }) }
        if let names { object["names"] = .array(names.sorted().map { .string($0) }) }
        object["validateOnly"] = .bool(validateOnly)
        object["removes"] = .bool(removes)
        if force { object["force"] = true }
        if let expectedRevision { object["expectedRevision"] = JSONValue(expectedRevision) }
        return .object(object)
    }
}

extension DeploymentRequest.Plugin {
    fileprivate var json: JSONValue {
        var object: JSONObject = ["artifact": .string(artifact), "file": .string(file)]
        object["environment"] = .object(JSONObject(environment.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        object["functions"] = .object(functions)
        if !defaults.isEmpty { object["defaults"] = .object(defaults) }
        if let manifest { object["manifest"] = manifest }
        return .object(object)
    }
}

// MARK: Reading a request

extension DeploymentRequest {
    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        guard let object = body.object else { throw .invalid("the body must be an object") }
        guard let plugins = object["plugins"]?.object, plugins.count <= Self.pluginsMax else {
            throw .invalid("plugins must be an object of at most \(Self.pluginsMax) plugins")
        }
        self.plugins = []
        for (name, plugin) in plugins { self.plugins.append(try Plugin(name, parsing: plugin)) }
        if let texts = try Self.texts(object, "only", "strings such as functions:addMessage") {
            do throws(FunctionFilter.Mistake) {
                only = try FunctionFilter(only: texts, plugins: self.plugins.map(\.name))
            } catch {
                throw .invalid("only: \(error)")
            }
        }
        names = try Self.texts(object, "names", "function names").map { Set($0) }
        validateOnly = try Self.flag(object, "validateOnly")
        removes = try Self.flag(object, "removes")
        force = try Self.flag(object, "force")
        if let value = object["expectedRevision"], !value.isNull {
            guard let number = value.int else { throw .invalid("expectedRevision must be a whole number") }
            expectedRevision = number
        }
    }

    private static func texts(_ object: JSONObject, _ name: String, _ kind: String) throws(AdminError) -> [String]? {
        guard let value = object[name], !value.isNull else { return nil }
        let texts = value.array?.compactMap(\.string) ?? []
        guard let array = value.array, texts.count == array.count else { throw .invalid("\(name) must be a list of \(kind)") }
        return texts
    }

    private static func flag(_ object: JSONObject, _ name: String) throws(AdminError) -> Bool {
        switch object[name] {
        case nil, .null?: return false
        case .bool(let flag)?: return flag
        default: throw .invalid("\(name) must be true or false")
        }
    }
}

extension DeploymentRequest.Plugin {
    fileprivate init(_ name: String, parsing value: JSONValue) throws(AdminError) {
        guard Self.isName(name) else {
            throw .invalid("a plugin's name must have 1 to 63 letters, digits, _ and -, and begin with a letter or digit: \(name)")
        }
        guard let artifact = value["artifact"]?.string, ArtifactAnswer.isHash(artifact) else {
            throw .invalid("plugins.\(name).artifact must be the SHA-256 of its library, in 64 hexadecimal digits")
        }
        var environment: [String: String] = [:]
        for (key, variable) in value["environment"]?.object ?? JSONObject() {
            guard let text = variable.string else { throw .invalid("plugins.\(name).environment.\(key) must be a string") }
            environment[key] = text
        }
        let functions = value["functions"]?.object ?? JSONObject()
        for (function, entry) in functions where entry.object == nil {
            throw .invalid("plugins.\(name).functions.\(function) must be an object, as under \"functions\" in functions.json")
        }
        if let defaults = value["defaults"], !defaults.isNull, defaults.object == nil {
            throw .invalid("plugins.\(name).defaults must be an object, as in functions.json")
        }
        let manifest = value["manifest"] ?? .null
        guard manifest.isNull || manifest.object != nil else { throw .invalid("plugins.\(name).manifest must be an object") }
        let file = value["file"]?.string ?? "lib\(name).so"
        self.init(
            name: name, artifact: artifact, file: String(file.prefix(256)), environment: environment, functions: functions,
            defaults: value["defaults"]?.object ?? JSONObject(), manifest: manifest.isNull ? JSONValue?.none : manifest)
    }

    /// Whether a text can be a plugin's name, which becomes part of a folder's name.
    private static func isName(_ name: String) -> Bool {
        guard (1...63).contains(name.utf8.count), let first = name.utf8.first, isWord(first) else { return false }
        return name.utf8.allSatisfy { isWord($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

// MARK: Answers

/// The effect of a deployment on one function.
package struct FunctionChange: AdminMessage, Hashable {
    /// The kind of change.
    package enum Action: String, Codable, Sendable {
        case create, update, delete, unchanged
        /// The plugin no longer contains the function, but it was not to be deleted.
        case keep
    }

    package var function: String
    /// The plugin's name; empty if unknown.
    package var plugin: String
    package var action: Action
    /// The reason, in a few words.
    package var reason: String
    /// The version with most calls before; nil for a new function.
    package var fromVersion: Int?
    /// The version with most calls afterwards; nil for a deleted function.
    package var toVersion: Int?

    package init(function: String, plugin: String, action: Action, reason: String = "", fromVersion: Int? = nil, toVersion: Int? = nil) {
        self.function = function
        self.plugin = plugin
        self.action = action
        self.reason = reason
        self.fromVersion = fromVersion
        self.toVersion = toVersion
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        function = try members.decode(String.self, forKey: .function)
        plugin = try members.decodeIfPresent(String.self, forKey: .plugin) ?? ""
        action = try members.decode(Action.self, forKey: .action)
        reason = try members.decodeIfPresent(String.self, forKey: .reason) ?? ""
        fromVersion = try members.decodeIfPresent(Int.self, forKey: .fromVersion)
        toVersion = try members.decodeIfPresent(Int.self, forKey: .toVersion)
    }

    /// Whether the function changes.
    package var isChange: Bool { action != .unchanged && action != .keep }
}

/// The answer to a deployment: its planned or completed changes.
package struct DeploymentSummary: AdminMessage, Hashable {
    /// The number of the deployment; nil if nothing was done.
    package var deployment: Int?
    /// The revision it was planned for, or that it created.
    package var revision: Int
    package var changes: [FunctionChange]

    package init(deployment: Int? = nil, revision: Int, changes: [FunctionChange]) {
        self.deployment = deployment
        self.revision = revision
        self.changes = changes
    }
}

/// One entry of the history of deployments.
package struct DeploymentRecord: AdminMessage, Equatable {
    package var deployment: Int
    /// RFC 3339.
    package var time: String
    /// `local`, `deploy`, `rollback`, `split` or `delete`.
    package var origin: String
    package var changes: [FunctionChange]

    package init(deployment: Int, time: String, origin: String, changes: [FunctionChange]) {
        self.deployment = deployment
        self.time = time
        self.origin = origin
        self.changes = changes
    }
}

/// The answer to `GET deployments`.
package struct DeploymentHistory: AdminMessage {
    /// Newest first.
    package var deployments: [DeploymentRecord]

    package init(deployments: [DeploymentRecord]) { self.deployments = deployments }
}

// MARK: Libraries

/// How much of a library the host has.
package struct ArtifactAnswer: AdminMessage, Equatable {
    package enum State: String, Codable, Sendable { case absent, partial, complete }

    package var state: State
    package var receivedBytes: Int

    package init(state: State, receivedBytes: Int) {
        self.state = state
        self.receivedBytes = receivedBytes
    }

    /// The largest piece of an upload.
    package static let pieceBytesMax = 8 << 20

    /// Whether a text can be the name of a library: 64 hexadecimal digits in lower case.
    package static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (97...102).contains($0) }
    }
}

/// `POST artifacts/SHA256:complete`.
package struct ArtifactCompletion: AdminMessage {
    package var sizeBytes: Int

    package init(sizeBytes: Int) { self.sizeBytes = sizeBytes }
}

/// The facts in the refusal of a piece at the wrong offset.
package struct ArtifactOffset: AdminMessage {
    package var receivedBytes: Int

    package init(receivedBytes: Int) { self.receivedBytes = receivedBytes }
}
