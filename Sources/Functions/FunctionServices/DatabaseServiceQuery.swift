import HearthJSON
import Tree

/// The reason why a query is invalid.
struct QueryProblem: Error {
    var message: String
}

extension Query {
    /// Parses a query such as `{"orderBy": "...", "startAt": {"value": ..., "key": "..."}, "limitToFirst": 10}`.
    init(service members: JSONValue) throws(QueryProblem) {
        guard let object = members.object else { throw QueryProblem(message: "query is not an object") }
        let known = ["orderBy", "startAt", "startAfter", "endAt", "endBefore", "equalTo", "limitToFirst", "limitToLast"]
        if let unknown = object.keys.first(where: { !known.contains($0) }) {
            throw QueryProblem(message: "a query has no member \"\(unknown)\"; it has \(known.joined(separator: ", "))")
        }
        self.init()
        order = try Self.order(members["orderBy"])
        if let equal = members["equalTo"] {
            guard object.keys.allSatisfy({ ["orderBy", "equalTo", "limitToFirst", "limitToLast"].contains($0) }) else {
                throw QueryProblem(message: "equalTo cannot be combined with a start or an end")
            }
            let position = try BoundPosition(equal, "equalTo")
            start = position.bound(orKey: .min, isInclusive: true)
            end = position.bound(orKey: .max, isInclusive: true)
        } else {
            start = try Self.bound(members, "startAt", .min, "startAfter", .max)
            end = try Self.bound(members, "endAt", .max, "endBefore", .min)
        }
        try setLimit(members)
    }

    private static func order(_ member: JSONValue?) throws(QueryProblem) -> Order {
        guard let member else { return .priority }
        switch member.string {
        case "$key": return .key
        case "$value": return .value
        case "$priority": return .priority
        case let name?:
            guard let path = try? Path(parsing: name), !path.isRoot else {
                throw QueryProblem(message: "orderBy must be the path of a child, $key, $value or $priority")
            }
            return .child(path)
        case nil: throw QueryProblem(message: "orderBy is not a string")
        }
    }

    private static func bound(
        _ members: JSONValue, _ inclusive: String, _ inclusiveKey: KeyBound, _ exclusive: String, _ exclusiveKey: KeyBound
    ) throws(QueryProblem) -> Bound? {
        if let member = members[inclusive] {
            guard members[exclusive] == nil else {
                throw QueryProblem(message: "\(inclusive) and \(exclusive) cannot be combined")
            }
            return try BoundPosition(member, inclusive).bound(orKey: inclusiveKey, isInclusive: true)
        }
        guard let member = members[exclusive] else { return nil }
        return try BoundPosition(member, exclusive).bound(orKey: exclusiveKey, isInclusive: false)
    }

    private mutating func setLimit(_ members: JSONValue) throws(QueryProblem) {
        let first = members["limitToFirst"], last = members["limitToLast"]
        guard let member = first ?? last else { return }
        guard first == nil || last == nil else { throw QueryProblem(message: "limitToFirst and limitToLast cannot be combined") }
        guard let count = member.int, count > 0 else { throw QueryProblem(message: "a limit must be a whole number of at least 1") }
        limit = count
        anchorsLast = last != nil
    }
}

/// One end of a range, in the form `{"value": ..., "key": "..."}`.
private struct BoundPosition {
    let value: IndexValue
    let key: String?

    init(_ member: JSONValue, _ name: String) throws(QueryProblem) {
        guard let object = member.object, object.keys.allSatisfy({ $0 == "value" || $0 == "key" }) else {
            throw QueryProblem(message: "\(name) must be an object with \"value\" and \"key\"")
        }
        switch object["key"] {
        case nil, .null: key = nil
        case .string(let text): key = text
        default: throw QueryProblem(message: "the key of \(name) is not a string")
        }
        switch object["value"] {
        case nil, .null: value = .null
        case .bool(let isTrue): value = isTrue ? .true : .false
        case .string(let text): value = .string(text)
        case .array, .object: throw QueryProblem(message: "the value of \(name) must be null, a boolean, a number or a string")
        case let number?: value = .number(number.double ?? 0)
        }
    }

    func bound(orKey end: Query.KeyBound, isInclusive: Bool) -> Query.Bound {
        Query.Bound(value: value, key: key.map { .key($0) } ?? end, isInclusive: isInclusive)
    }
}
