import Accounts
import HearthJSON

/// The fields that a change of a configuration replaces.
struct UpdateMask {
    private let paths: [[String]]

    /// Reads a list of paths, such as `mfaConfig.state,displayName`. Without one, the whole configuration is replaced.
    init(_ text: String?) {
        paths = (text ?? "").split(separator: ",").map { path in
            path.split(separator: ".").map { name in Self.camelCased(name.filter { $0 != " " }) }
        }.filter { !$0.isEmpty && $0.count <= 16 }
    }

    private static func camelCased(_ name: String) -> String {
        let parts = name.split(separator: "_")
        return (parts.first.map(String.init) ?? "") + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The configuration after a change.
    ///
    /// - Parameter defaults: the configuration of which fields are taken that a replacement does not have.
    func apply(_ change: JSONObject, to old: JSONObject, defaults: JSONObject) -> JSONObject {
        guard !paths.isEmpty else {
            var document = defaults
            for (name, value) in change where !value.isNull { document[name] = value }
            return document
        }
        var document = JSONValue.object(old)
        for path in paths {
            guard let value = Self.value(at: path[...], of: .object(change)) else { continue }
            document = Self.replacing(path[...], of: document, by: value) ?? document
        }
        return document.object ?? old
    }

    /// Changes the configuration of the project. Without a mask, the fields that the change has replace all earlier changes.
    func apply(_ change: JSONObject, to changes: inout ProjectChanges, defaults: JSONObject) {
        guard !paths.isEmpty else {
            changes = ProjectChanges()
            for (name, value) in change where !value.isNull { changes.replace([name], by: value, defaults: defaults) }
            return
        }
        for path in paths {
            if let value = Self.value(at: path[...], of: .object(change)) { changes.replace(path, by: value, defaults: defaults) }
        }
    }

    private static func value(at path: ArraySlice<String>, of value: JSONValue) -> JSONValue? {
        guard let name = path.first else { return value }
        return value[name].flatMap { self.value(at: path.dropFirst(), of: $0) }
    }

    /// Nil if the path goes through a value that is not an object.
    private static func replacing(_ path: ArraySlice<String>, of value: JSONValue, by new: JSONValue) -> JSONValue? {
        guard let name = path.first else { return new }
        guard var object = value.object else { return nil }
        guard let member = replacing(path.dropFirst(), of: object[name] ?? .object(JSONObject()), by: new) else { return nil }
        object[name] = member
        return .object(object)
    }
}
