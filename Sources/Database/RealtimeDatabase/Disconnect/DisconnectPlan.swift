import HearthBytes
import HearthJSON
import Tree

/// onDisconnect operations in normal form: values for places that are not below one another.
struct DisconnectPlan {
    /// A place with the JSON to write there, in export form; null deletes.
    struct Place: Equatable {
        var path: Path
        var value: JSONValue
    }

    private var root = Branch()

    /// The reason why an operation is not accepted.
    struct Fault: Error, Equatable {
        var message: String
    }

    /// - Parameter places: none is below another one.
    init(places: [Place] = []) {
        for place in places { root.set(place.value, at: place.path.segments[...]) }
    }

    /// The places, in the order of their keys.
    var places: [Place] {
        var places: [Place] = []
        root.collect(Path.root, into: &places)
        return places
    }

    // MARK: Operations

    /// Adds an operation.
    mutating func apply(_ operation: DisconnectOperation) throws(Fault) {
        switch operation {
        case .set(let path, let value): root.set(value, at: path.segments[...])
        case .update(let base, let members):
            guard let members = members.object else { throw Fault(message: "the data of an update must be an object") }
            for member in members {
                do throws(PathError) {
                    root.set(member.value, at: base.appending(try Path(parsing: member.key)).segments[...])
                } catch {
                    throw Fault(message: error.message)
                }
            }
        case .cancel(let path): root.cancel(path.segments[...])
        }
    }

    /// A node on the way to places, or a place.
    private struct Branch {
        var children: [String: Branch] = [:]
        /// The value of a place, which has no children.
        var value: JSONValue?

        mutating func set(_ new: JSONValue, at path: ArraySlice<String>) {
            guard let key = path.first else { return self = Branch(value: new) }
            guard value == nil else { return DisconnectPlan.set(new, at: path, in: &value) }
            children[key, default: Branch()].set(new, at: path.dropFirst())
        }

        mutating func cancel(_ path: ArraySlice<String>) {
            guard let key = path.first else { return self = Branch() }
            if let value {
                // The value is split into its children: the others are still written, and nothing is deleted at the path.
                guard let parts = DisconnectPlan.children(of: value) else { return }
                self = Branch()
                for part in parts { children[part.key] = Branch(value: part.value) }
            }
            children[key]?.cancel(path.dropFirst())
            if let child = children[key], child.value == nil, child.children.isEmpty { children[key] = nil }
        }

        func collect(_ path: Path, into places: inout [Place]) {
            if let value { places.append(Place(path: path, value: value)) }
            for (key, child) in children.sorted(by: { $0.key < $1.key }) { child.collect(path.appending(key), into: &places) }
        }
    }

    /// Sets a value at a path below an object. A value without children is replaced.
    private static func set(_ new: JSONValue, at path: ArraySlice<String>, in value: inout JSONValue?) {
        guard let key = path.first else { return value = new }
        var members = JSONObject()
        switch value {
        case .object(let all) where all[".value"] == nil && all[".sv"] == nil: members = all
        case .object(let all): members[".priority"] = all[".priority"]
        case .some(let list): for child in children(of: list) ?? [] { members[child.key] = child.value }
        case nil: break
        }
        // The only owner of the members, so that they are changed in place.
        value = nil
        var child = members[key]
        if path.count > 1 { members[key] = .null }
        set(new, at: path.dropFirst(), in: &child)
        members[key] = child
        value = .object(members)
    }

    /// The children of a value in export form; nil for a value without children.
    private static func children(of value: JSONValue) -> [(key: String, value: JSONValue)]? {
        switch value {
        case .array(let elements):
            return elements.enumerated().filter { $0.element != .null }.map { ("\($0.offset)", $0.element) }
        case .object(let members):
            guard members[".value"] == nil, members[".sv"] == nil else { return nil }
            return members.filter { $0.key != ".priority" }.map { ($0.key, $0.value) }
        default: return nil
        }
    }

    // MARK: The write

    /// The write that performs all operations at once.
    func update(limits: DraftLimits = DraftLimits()) throws(NodeError) -> UpdateDraft {
        var members: [(path: Path, draft: Draft)] = []
        for place in places { members.append((place.path, try Self.draft(place.value, at: place.path, limits: limits))) }
        return UpdateDraft(members: members)
    }

    /// The parsed value for a place.
    static func draft(_ value: JSONValue, at path: Path, limits: DraftLimits = DraftLimits()) throws(NodeError) -> Draft {
        var limits = limits
        limits.depthAbove = path.count
        return try Draft(parsing: value.serialized().span, limits: limits)
    }
}
