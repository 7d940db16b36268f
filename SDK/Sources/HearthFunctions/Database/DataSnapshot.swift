internal import HearthJSON

/// What was at a place when it was read, or around a write.
public struct DataSnapshot: Sendable {
    /// The place.
    public let ref: DatabaseReference
    /// The value: null where there is nothing. An object whose keys are mostly 0, 1, 2, ... is an array, as in all clients.
    public let value: JSONValue
    /// The same with its priorities, where it has any.
    private let exported: JSONValue?
    /// The order of the query that was read.
    private let order: DatabaseQuery.Order?

    /// A value without priorities.
    init(_ ref: DatabaseReference, value: JSONValue) {
        self.ref = ref
        self.value = value
        self.exported = nil
        self.order = nil
    }

    /// A value as the database exports it: objects for arrays, `.priority` and `.value` where there are priorities.
    init(_ ref: DatabaseReference, exported: JSONValue, order: DatabaseQuery.Order? = nil) {
        let plain = PlainValue(exported: exported)
        self.ref = ref
        self.value = plain.value
        self.exported = plain.hasPriorities ? exported : nil
        self.order = order
    }

    private init(_ ref: DatabaseReference, value: JSONValue, exported: JSONValue?) {
        self.ref = ref
        self.value = value
        self.exported = exported
        self.order = nil
    }

    /// The last part of the place's path; nil for the root.
    public var key: String? { ref.key }

    /// The priority: a number or a text; nil for none. What a function gets with an event has none.
    public var priority: JSONValue? { exported?[".priority"] }

    /// Whether there is anything.
    public func exists() -> Bool { !value.isNull }

    /// Whether there are children, and not a single value.
    public func hasChildren() -> Bool { value.object?.isEmpty == false || value.array?.isEmpty == false }

    /// Whether there is anything at `path` below.
    public func hasChild(_ path: String) -> Bool { childSnapshot(forPath: path).exists() }

    /// The number of children.
    public var childrenCount: Int { value.object?.count ?? value.array?.count { !$0.isNull } ?? 0 }

    /// What was at `path` below; a snapshot of nothing where there was nothing.
    public func childSnapshot(forPath path: String) -> DataSnapshot {
        path.split(separator: "/").reduce(self) { $0.child(String($1)) }
    }

    private func child(_ key: String) -> DataSnapshot {
        DataSnapshot(ref.child(key), value: value.child(key) ?? .null, exported: exported?[key])
    }

    /// The children, in the order of the query that was read; without one by priority, then by key.
    public var children: [DataSnapshot] {
        let children = value.childKeys.map(child)
        switch order {
        case nil where exported == nil: return children
        case nil: return ChildOrder(.priority).sorted(children)
        case let order?: return ChildOrder(order).sorted(children)
        }
    }

    /// The value as type `T`; of an optional type where there may be nothing.
    ///
    /// - Throws: `DatabaseError`: `notFound` where there is nothing, `typeMismatch` where there is something else.
    public func data<T: Decodable>(as type: T.Type) throws(DatabaseError) -> T {
        do {
            return try JSONDecoder().decode(type, from: value)
        } catch {
            throw DatabaseError(decoding: error, path: ref.path)
        }
    }
}

extension JSONValue {
    /// The member or the element of that key; of an array only under the key that its index has in the database.
    fileprivate func child(_ key: String) -> JSONValue? {
        guard case .array(let elements) = self else { return self[key] }
        guard let index = Int(key), String(index) == key, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The keys of the children there are.
    fileprivate var childKeys: [String] {
        switch self {
        case .object(let members): members.map(\.key)
        case .array(let elements): elements.indices.filter { !elements[$0].isNull }.map(String.init)
        default: []
        }
    }
}
