import HearthBytes
import HearthJSON
import Tree

/// onDisconnect operations in normal form: values for places that are not below one another.
struct DisconnectPlan: Equatable {
    /// A place with the JSON to write there, in export form; null deletes.
    struct Place: Equatable {
        var path: Path
        var value: JSONValue
    }

    /// In the order in which the places were first named.
    private(set) var places: [Place]
    /// The reason why an operation is not accepted.
    struct Fault: Error, Equatable {
        var message: String
    }

    init(places: [Place] = []) { self.places = places }

    // MARK: Operations

    /// Adds an operation.
    mutating func apply(_ operation: DisconnectOperation) throws(Fault) {
        switch operation {
        case .set(let path, let value): set(path, value)
        case .update(let base, let members):
            guard let members = members.object else { throw Fault(message: "the data of an update must be an object") }
            for member in members {
                do throws(PathError) {
                    set(base.appending(try Path(parsing: member.key)), member.value)
                } catch {
                    throw Fault(message: error.message)
                }
            }
        case .cancel(let path): cancel(path)
        }
    }

    private mutating func set(_ path: Path, _ value: JSONValue) {
        if let above = places.firstIndex(where: { $0.path.contains(path) && $0.path != path }) {
            let rest = path.segments.dropFirst(places[above].path.count)
            places[above].value = Self.setting(value, at: rest, in: places[above].value)
        } else if let same = places.firstIndex(where: { $0.path == path }) {
            places[same].value = value
        } else {
            places.removeAll { path.contains($0.path) }
            places.append(Place(path: path, value: value))
        }
    }

    private mutating func cancel(_ path: Path) {
        places.removeAll { path.contains($0.path) }
        guard let above = places.firstIndex(where: { $0.path.contains(path) }) else { return }
        // The value is split into its children, down to the path: the others are still written, and nothing is deleted at the path.
        guard let children = Self.children(of: places[above].value) else { return }
        let place = places.remove(at: above)
        for child in children { places.append(Place(path: place.path.appending(child.key), value: child.value)) }
        cancel(path)
    }

    /// `object` with a value at a path below it. A value without children is replaced.
    private static func setting(_ value: JSONValue, at path: ArraySlice<String>, in object: JSONValue) -> JSONValue {
        guard let key = path.first else { return value }
        var members = JSONObject()
        for child in children(of: object) ?? [] { members[child.key] = child.value }
        if case .object(let all) = object, let priority = all[".priority"] {
            members[".priority"] = priority
        }
        members[key] = setting(value, at: path.dropFirst(), in: members[key] ?? .null)
        return .object(members)
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
