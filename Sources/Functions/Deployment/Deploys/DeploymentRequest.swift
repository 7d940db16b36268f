import AdminProtocol
import HearthJSON

/// A deployment as the administration is asked for it.
package struct DeploymentRequest: Sendable {
    struct Plugin: Sendable {
        var name: String
        var artifact: String
        var file: String
        var environment: [String: String]
        /// Entries as under `functions` of `functions.json`.
        var functions: JSONObject
        /// The `defaults` of that file.
        var defaults: JSONObject
        /// The library's manifest, sent with a dry run; nil to read it from the library.
        var manifest: [UInt8]?
    }

    var plugins: [Plugin]
    /// Which functions it is about; nil for all.
    var only: OnlyFilter?
    /// The same by whole names.
    var names: Set<String>?
    /// Only says what would happen.
    var validateOnly: Bool
    /// Whether functions that the plugins do not have any more are deleted.
    var removes: Bool
    /// Whether functions get new versions although nothing differs.
    var force: Bool
    /// The revision that the caller has seen.
    var expectedRevision: Int?

    static let pluginsMax = 100

    package init(_ body: JSONValue) throws(AdminError) {
        guard let object = body.object else { throw Self.wrong("the body must be an object") }
        guard let plugins = object["plugins"]?.object, plugins.count <= Self.pluginsMax else {
            throw Self.wrong("plugins must be an object of at most \(Self.pluginsMax) plugins")
        }
        self.plugins = []
        for (name, plugin) in plugins { self.plugins.append(try Self.plugin(name, plugin)) }
        switch object["only"] {
        case nil, .null?: only = nil
        case .array(let texts)?:
            only = OnlyFilter(texts.compactMap(\.string))
            guard texts.allSatisfy({ $0.string != nil }) else { throw Self.wrong("only must be a list of strings such as functions:addMessage") }
        default: throw Self.wrong("only must be a list of strings such as functions:addMessage")
        }
        switch object["names"] {
        case nil, .null?: names = nil
        case .array(let texts)? where texts.allSatisfy({ $0.string != nil }): names = Set(texts.compactMap(\.string))
        default: throw Self.wrong("names must be a list of function names")
        }
        validateOnly = try Self.flag(object, "validateOnly")
        removes = try Self.flag(object, "removes")
        force = try Self.flag(object, "force")
        switch object["expectedRevision"] {
        case nil, .null?: expectedRevision = nil
        case let value?:
            guard let number = value.int else { throw Self.wrong("expectedRevision must be a whole number") }
            expectedRevision = number
        }
    }

    private static func plugin(_ name: String, _ value: JSONValue) throws(AdminError) -> Plugin {
        guard isPluginName(name) else {
            throw wrong("a plugin's name must have 1 to 63 letters, digits, _ and -, and begin with a letter or digit: \(name)")
        }
        guard let artifact = value["artifact"]?.string, ArtifactUploads.isHash(artifact) else {
            throw wrong("plugins.\(name).artifact must be the SHA-256 of its library, in 64 hexadecimal digits")
        }
        var environment: [String: String] = [:]
        for (key, variable) in value["environment"]?.object ?? JSONObject() {
            guard let text = variable.string else { throw wrong("plugins.\(name).environment.\(key) must be a string") }
            environment[key] = text
        }
        let functions = value["functions"]?.object ?? JSONObject()
        for (function, entry) in functions where entry.object == nil {
            throw wrong("plugins.\(name).functions.\(function) must be an object, as under \"functions\" in functions.json")
        }
        if let defaults = value["defaults"], !defaults.isNull, defaults.object == nil {
            throw wrong("plugins.\(name).defaults must be an object, as in functions.json")
        }
        let manifest = value["manifest"] ?? .null
        guard manifest.isNull || manifest.object != nil else { throw wrong("plugins.\(name).manifest must be an object") }
        let file = value["file"]?.string ?? "lib\(name).so"
        return Plugin(
            name: name, artifact: artifact, file: String(file.prefix(256)), environment: environment, functions: functions,
            defaults: value["defaults"]?.object ?? JSONObject(), manifest: manifest.isNull ? nil : manifest.serialized())
    }

    /// It is part of a folder's name.
    private static func isPluginName(_ name: String) -> Bool {
        guard (1...63).contains(name.utf8.count), let first = name.utf8.first, isWord(first) else { return false }
        return name.utf8.allSatisfy { isWord($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func flag(_ object: JSONObject, _ name: String) throws(AdminError) -> Bool {
        switch object[name] {
        case nil, .null?: return false
        case .bool(let flag)?: return flag
        default: throw wrong("\(name) must be true or false")
        }
    }

    private static func wrong(_ message: String) -> AdminError { AdminError(.invalidArgument, message) }
}

/// Which functions a deployment is about, as `--only` of the command line says it: `functions:NAME`, `functions:GROUP`,
/// `functions:PLUGIN`, `functions:PLUGIN:NAME`, or `functions` for all.
struct OnlyFilter: Sendable {
    private let texts: [String]

    init(_ texts: [String]) { self.texts = texts }

    /// Whether a function is meant.
    func matches(_ function: String, plugin: String) -> Bool { texts.contains { Self.matches($0, function, plugin) } }

    /// Those that mean none of these functions.
    func missing(among functions: [(name: String, plugin: String)]) -> [String] {
        texts.filter { text in !functions.contains { Self.matches(text, $0.name, $0.plugin) } }
    }

    private static func matches(_ text: String, _ function: String, _ plugin: String) -> Bool {
        let words = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let parts = words.first == "functions" ? Array(words.dropFirst()) : words
        switch parts.count {
        case 0: return true
        case 1: return parts[0] == plugin || isIn(parts[0], function)
        case 2: return parts[0] == plugin && isIn(parts[1], function)
        default: return false
        }
    }

    /// A function of a group is called `group-name`; people write `group.name` too.
    private static func isIn(_ text: String, _ function: String) -> Bool {
        let name = String(text.map { $0 == "." ? "-" : $0 })
        return function == name || function.hasPrefix(name + "-")
    }
}
