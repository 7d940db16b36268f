internal import HearthJSON

/// A readable part of the database: a place, or those of its children that a query selects.
///
///     let newest = try await database.reference("messages").queryOrdered(byChild: "at").queryLimited(toLast: 10).getData()
///     for message in newest.children { ... }
public protocol DatabaseQueryable: Sendable {
    /// The part of the database to read.
    var query: DatabaseQuery { get }
}

/// A selection of the children of a place: an order, two bounds and a limit.
///
/// An order by a child or by value needs an index: `".indexOn": ["at"]` in the rules of the place. A query with a
/// contradiction is refused when it is read.
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
    /// The first contradiction in the query; nil for none.
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

extension DatabaseQueryable {
    /// Reads the current value.
    public func getData() async throws(DatabaseError) -> DataSnapshot {
        let answer = try query.ref.decode(ValueAnswer<JSONValue>.self, from: try await get(form: "export"))
        return DataSnapshot(query.ref, exported: answer.value, order: query.isWhole ? nil : query.order ?? .priority)
    }

    /// Reads the current value as type `T`, an optional one if there may be no value.
    ///
    ///     let topic = try await room.child("topic").getData(as: String?.self) ?? "none"
    ///
    /// - Throws: `DatabaseError`: `notFound` where there is nothing, `typeMismatch` where there is something else.
    public func getData<T: Decodable>(as type: T.Type) async throws(DatabaseError) -> T {
        try query.ref.decode(ValueAnswer<T>.self, from: try await get(form: "value")).value
    }

    private func get(form: JSONValue) async throws(DatabaseError) -> [UInt8] {
        let query = query
        if let problem = query.problem { throw DatabaseError(.invalidArgument, problem, path: query.ref.path) }
        var call = DatabaseCall("get", at: query.ref)
        call.add("form", form)
        if let payload = query.payload { call.add("query", payload) }
        return try await call.send()
    }
}

/// A value to compare children with: a text, a number, a boolean, or a `JSONValue` that is one of these. Nil stands for no value.
public protocol DatabaseQueryValue {
    /// The value as the database compares it.
    var queryValue: JSONValue { get }
}

extension String: DatabaseQueryValue {
    /// As a JSON string.
    public var queryValue: JSONValue { .string(self) }
}

extension Int: DatabaseQueryValue {
    /// As a JSON number.
    public var queryValue: JSONValue { JSONValue(self) }
}

extension Double: DatabaseQueryValue {
    /// As a JSON number.
    public var queryValue: JSONValue { .double(self) }
}

extension Bool: DatabaseQueryValue {
    /// As JSON's true or false.
    public var queryValue: JSONValue { .bool(self) }
}

extension JSONValue: DatabaseQueryValue {
    /// Itself.
    public var queryValue: JSONValue { self }
}

// Queries are built by these calls. Without an order children come by priority, which is by key where nothing has one.
extension DatabaseQueryable {
    /// Orders by the value at `path` of each child. A child without it comes first. Needs an index on `path`.
    public func queryOrdered(byChild path: String) -> DatabaseQuery {
        ordered(.child(path.split(separator: "/").joined(separator: "/")))
    }

    /// Orders by the children's keys.
    public func queryOrderedByKey() -> DatabaseQuery { ordered(.key) }

    /// Orders by the children's values. Needs an index on `.value`.
    public func queryOrderedByValue() -> DatabaseQuery { ordered(.value) }

    /// Orders by the children's priorities.
    public func queryOrderedByPriority() -> DatabaseQuery { ordered(.priority) }

    /// Starts at the first child that has this value. Ordered by key, the value is a key.
    ///
    /// - Parameters:
    ///   - value: the value of the first child.
    ///   - childKey: the key of the first child among those with this value.
    public func queryStarting(atValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        starting(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: true))
    }

    /// Starts after the children that have this value, or after the one of them that has this key.
    public func queryStarting(afterValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        starting(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: false))
    }

    /// Ends at the last child that has this value.
    ///
    /// - Parameters:
    ///   - value: the value of the last child.
    ///   - childKey: the key of the last child among those with this value.
    public func queryEnding(atValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        ending(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: true))
    }

    /// Ends before the first child that has this value, or before the one of them that has this key.
    public func queryEnding(beforeValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        ending(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: false))
    }

    /// The children that have this value: nil for those that have none.
    ///
    /// - Parameters:
    ///   - value: the value of the children.
    ///   - childKey: the key of the one child that is meant.
    public func queryEqual(toValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        let bound = DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: true)
        return starting(bound).ending(bound)
    }

    /// The first `count` of them.
    public func queryLimited(toFirst count: Int) -> DatabaseQuery { limited(.first(count), count) }

    /// The last `count` of them; they still come in rising order.
    public func queryLimited(toLast count: Int) -> DatabaseQuery { limited(.last(count), count) }

    private func ordered(_ order: DatabaseQuery.Order) -> DatabaseQuery {
        changed { query in
            if query.order != nil { query.problem = "A query has one order, and this one is given two." }
            query.order = order
        }
    }

    private func starting(_ bound: DatabaseQuery.Bound) -> DatabaseQuery {
        changed { query in
            if query.start != nil { query.problem = "A query starts at one place, and this one is given two." }
            query.start = bound
        }
    }

    private func ending(_ bound: DatabaseQuery.Bound) -> DatabaseQuery {
        changed { query in
            if query.end != nil { query.problem = "A query ends at one place, and this one is given two." }
            query.end = bound
        }
    }

    private func limited(_ limit: DatabaseQuery.Limit, _ count: Int) -> DatabaseQuery {
        changed { query in
            if query.limit != nil { query.problem = "A query has one limit, and this one is given two." }
            if count < 1 { query.problem = "The limit of a query is 1 or more, and this one's is \(count)." }
            query.limit = limit
        }
    }

    private func changed(_ change: (inout DatabaseQuery) -> Void) -> DatabaseQuery {
        var query = query
        change(&query)
        return query
    }
}
