internal import HearthJSON

/// What children can be compared with: texts, numbers, booleans, and `JSONValue`s that are one of these. Nil is nothing at all.
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

// How a query is put together. Without an order children come by priority, which is by key where nothing has one.
extension DatabaseQueryable {
    /// Ordered by the value at `path` of each child; a child without it comes first. Needs an index on `path`.
    public func queryOrdered(byChild path: String) -> DatabaseQuery {
        ordered(.child(path.split(separator: "/").joined(separator: "/")))
    }

    /// Ordered by the children's keys.
    public func queryOrderedByKey() -> DatabaseQuery { ordered(.key) }

    /// Ordered by the children's values. Needs an index on `.value`.
    public func queryOrderedByValue() -> DatabaseQuery { ordered(.value) }

    /// Ordered by the children's priorities.
    public func queryOrderedByPriority() -> DatabaseQuery { ordered(.priority) }

    /// From the children that have this value on, the first of those included. Ordered by key, the value is a key.
    ///
    /// - Parameter childKey: of those with this value, where to begin.
    public func queryStarting(atValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        starting(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: true))
    }

    /// From behind the children that have this value, or behind the one of them that has this key.
    public func queryStarting(afterValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        starting(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: false))
    }

    /// Up to the children that have this value, the last of those included.
    ///
    /// - Parameter childKey: of those with this value, where to end.
    public func queryEnding(atValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        ending(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: true))
    }

    /// Up to the last one before the children that have this value, or before the one of them that has this key.
    public func queryEnding(beforeValue value: (any DatabaseQueryValue)?, childKey: String? = nil) -> DatabaseQuery {
        ending(DatabaseQuery.Bound(value: value?.queryValue ?? .null, key: childKey, isInclusive: false))
    }

    /// The children that have this value: nil for those that have none.
    ///
    /// - Parameter childKey: the one of them that has this key.
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
