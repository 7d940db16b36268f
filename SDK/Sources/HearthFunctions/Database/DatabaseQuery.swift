/// Something that can be read: a place, or those of its children that a query selects.
///
///     let newest = try await database.reference("messages").queryOrdered(byChild: "at").queryLimited(toLast: 10).getData()
///     for message in newest.children { ... }
public protocol DatabaseQueryable: Sendable {
    /// What is read.
    var query: DatabaseQuery { get }
}

/// Some children of a place: in an order, from here to there, so many at most.
///
/// An order by a child or by value needs an index: `".indexOn": ["at"]` in the rules of the place. A query that contradicts
/// itself is refused when it is read.
public struct DatabaseQuery: DatabaseQueryable, Hashable {
    enum Order: Sendable, Hashable {
        case key, value, priority
        case child(String)

        var name: String {
            switch self {
            case .key: "$key"
            case .value: "$value"
            case .priority: "$priority"
            case .child(let path): path
            }
        }
    }

    struct Bound: Sendable, Hashable {
        var value: JSONValue
        var key: String?
        var isInclusive: Bool
    }

    enum Limit: Sendable, Hashable {
        case first(Int), last(Int)
    }

    /// The place whose children are selected.
    public let ref: DatabaseReference
    var order: Order?
    var start: Bound?
    var end: Bound?
    var limit: Limit?
    /// What contradicts itself, noted while the query is put together.
    var problem: String?

    init(ref: DatabaseReference) { self.ref = ref }

    /// Itself.
    public var query: DatabaseQuery { self }

    /// Whether everything at the place is meant.
    var isWhole: Bool { order == nil && start == nil && end == nil && limit == nil }

    /// As the service reads it; nil for everything.
    var payload: JSONValue? {
        guard !isWhole else { return nil }
        var members = JSONObject()
        members["orderBy"] = .string((order ?? .priority).name)
        if let start { members[start.isInclusive ? "startAt" : "startAfter"] = start.payload }
        if let end { members[end.isInclusive ? "endAt" : "endBefore"] = end.payload }
        switch limit {
        case .first(let count): members["limitToFirst"] = JSONValue(count)
        case .last(let count): members["limitToLast"] = JSONValue(count)
        case nil: break
        }
        return .object(members)
    }
}

extension DatabaseQuery.Bound {
    fileprivate var payload: JSONValue {
        var members = JSONObject()
        members["value"] = value
        members["key"] = key.map { .string($0) }
        return .object(members)
    }
}
