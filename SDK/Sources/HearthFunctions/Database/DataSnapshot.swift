internal import HearthJSON

/// The value of a place at one time: when it was read, or before or after a write.
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

    /// The priority: a number or a text; nil for none. A snapshot of an event has none.
    public var priority: JSONValue? { exported?[".priority"] }

    /// Whether there is a value.
    public func exists() -> Bool { !value.isNull }

    /// Whether there are children, and not a single value.
    public func hasChildren() -> Bool { value.object?.isEmpty == false || value.array?.isEmpty == false }

    /// Whether there is a value at `path` below.
    public func hasChild(_ path: String) -> Bool { childSnapshot(forPath: path).exists() }

    /// The number of children.
    public var childrenCount: Int { value.object?.count ?? value.array?.count { !$0.isNull } ?? 0 }

    /// The snapshot of the value at `path` below; an empty one if there was no value.
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

/// A value as clients show it, made from the form that the database exports (spec database 1.2 and 1.3): without priorities,
/// and with arrays where the keys are mostly 0, 1, 2, ...
package struct PlainValue {
    /// The value.
    package let value: JSONValue
    let hasPriorities: Bool

    package init(exported: JSONValue) {
        guard case .object(let members) = exported, !members.isEmpty else {
            // A query that selects none of the children is answered with an empty object.
            value = exported.object == nil ? exported : .null
            hasPriorities = false
            return
        }
        if let leaf = members[".value"] {
            value = leaf
            hasPriorities = members[".priority"] != nil
            return
        }
        var plain = JSONObject(minimumCapacity: members.count)
        var hasPriorities = false
        var indexMax: Int? = -1
        for (key, exported) in members {
            if key == ".priority" {
                hasPriorities = true
                continue
            }
            let child = PlainValue(exported: exported)
            plain[key] = child.value
            hasPriorities = hasPriorities || child.hasPriorities
            indexMax = Self.arrayIndex(key).flatMap { index in indexMax.map { max($0, index) } }
        }
        self.hasPriorities = hasPriorities
        value = Self.array(plain, indexMax: indexMax) ?? .object(plain)
    }

    /// The members as an array; nil when a key is no index, or more than half of the array would be holes.
    private static func array(_ members: JSONObject, indexMax: Int?) -> JSONValue? {
        guard let indexMax, !members.isEmpty, indexMax < 2 * members.count else { return nil }
        var elements = [JSONValue](repeating: .null, count: indexMax + 1)
        for (key, value) in members {
            if let index = arrayIndex(key) { elements[index] = value }
        }
        return .array(elements)
    }

    /// The number that a key stands for: digits without a leading zero.
    private static func arrayIndex(_ key: String) -> Int? {
        guard key.utf8.allSatisfy({ (48...57).contains($0) }), key == "0" || key.utf8.first != 48 else { return nil }
        return Int(key)
    }
}

/// The order in which a query gives children (spec database 1.4). The database selects them; a JSON object does not keep their
/// order, so that it is made anew here.
struct ChildOrder {
    private let order: DatabaseQuery.Order

    init(_ order: DatabaseQuery.Order) { self.order = order }

    func sorted(_ children: [DataSnapshot]) -> [DataSnapshot] {
        children.map { (value: sortValue(of: $0), key: KeyRank($0.key ?? ""), child: $0) }
            .sorted { left, right in
                if left.value < right.value { return true }
                return right.value < left.value ? false : left.key < right.key
            }
            .map(\.child)
    }

    private func sortValue(of child: DataSnapshot) -> ValueRank {
        switch order {
        case .key: .null
        case .value: ValueRank(child.value)
        case .priority: ValueRank(child.priority ?? .null)
        case .child(let path): ValueRank(child.childSnapshot(forPath: path).value)
        }
    }
}

/// The rank of a value: null, false, true, numbers, texts, objects.
package enum ValueRank: Comparable {
    case null, no, yes
    case number(Double)
    case text(UTF16Text)
    case object

    package init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let isTrue): self = isTrue ? .yes : .no
        case .int, .uint, .double: self = .number(value.double ?? 0)
        case .string(let text): self = .text(UTF16Text(text))
        case .array, .object: self = .object
        }
    }
}

/// The rank of a key: numbers of 32 bits by their value, then all other keys by their UTF-16 units.
package enum KeyRank: Comparable {
    case number(Int32, length: Int)
    case text(UTF16Text)

    package init(_ key: String) {
        let digits = key.utf8.first == UInt8(ascii: "-") ? key.utf8.dropFirst() : key.utf8[...]
        if !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }), let number = Int32(key) {
            self = .number(number, length: key.utf8.count)
        } else {
            self = .text(UTF16Text(key))
        }
    }
}

package struct UTF16Text: Comparable {
    let text: String

    init(_ text: String) { self.text = text }

    package static func < (left: UTF16Text, right: UTF16Text) -> Bool {
        left.text.utf16.lexicographicallyPrecedes(right.text.utf16)
    }

    package static func == (left: UTF16Text, right: UTF16Text) -> Bool { left.text.utf16.elementsEqual(right.text.utf16) }
}
