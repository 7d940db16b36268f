public import HearthJSON

/// The changes of the project's configuration by administrators: the fields that were changed, and nothing else. All others follow the configuration
/// file, also when it changes later.
public struct ProjectChanges: Sendable, Equatable {
    private struct Change: Sendable, Equatable {
        var path: [String]
        var value: JSONValue
    }

    private var changes: [Change] = []

    /// The most changed fields.
    static let countMax = 1000

    /// No changes.
    public init() {}

    var count: Int { changes.count }

    /// Replaces the value at a path. Ignored if the path goes through a value that is not an object.
    ///
    /// - Parameter defaults: the configuration without changes.
    public mutating func replace(_ path: [String], by value: JSONValue, defaults: JSONObject) {
        guard !path.isEmpty, JSONValue.object(applied(to: defaults)).replacing(path[...], by: value) != nil else { return }
        // A part of a value that was changed as a whole belongs to that change.
        if let index = changes.firstIndex(where: { $0.path.count < path.count && path.starts(with: $0.path) }) {
            let part = changes[index].value.replacing(path[changes[index].path.count...], by: value)
            if let part { changes[index].value = part }
            return
        }
        changes.removeAll { $0.path.starts(with: path) }
        changes.append(Change(path: path, value: value))
    }

    /// The configuration with the changes.
    public func applied(to defaults: JSONObject) -> JSONObject {
        var document = JSONValue.object(defaults)
        for change in changes { document = document.replacing(change.path[...], by: change.value) ?? document }
        return document.object ?? defaults
    }

    // MARK: Storage

    var stored: JSONValue {
        .array(changes.map { ["path": .array($0.path.map { .string($0) }), "value": $0.value] })
    }

    init?(stored: JSONValue) {
        guard let list = stored.array else { return nil }
        for item in list {
            guard let path = item["path"]?.array?.compactMap(\.string), !path.isEmpty, let value = item["value"] else { return nil }
            changes.append(Change(path: path, value: value))
        }
    }

    /// The changes of a configuration that was stored as a whole.
    init(of document: JSONObject, comparedWith defaults: JSONObject) {
        collect(document, defaults, [])
    }

    private mutating func collect(_ document: JSONObject, _ defaults: JSONObject, _ path: [String]) {
        for (name, value) in document {
            if let inner = value.object, let innerDefaults = defaults[name]?.object, path.count < 16 {
                collect(inner, innerDefaults, path + [name])
            } else if value != defaults[name] {
                changes.append(Change(path: path + [name], value: value))
            }
        }
    }
}

extension JSONValue {
    /// This value with another one at a path; nil if the path goes through a value that is not an object.
    fileprivate func replacing(_ path: ArraySlice<String>, by new: JSONValue) -> JSONValue? {
        guard let name = path.first else { return new }
        guard var object = self.object else { return nil }
        guard let member = (object[name] ?? .object(JSONObject())).replacing(path.dropFirst(), by: new) else { return nil }
        object[name] = member
        return .object(object)
    }
}
