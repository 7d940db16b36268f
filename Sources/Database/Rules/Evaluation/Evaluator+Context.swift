import HearthJSON
import Tree

/// `auth` and `query`.
extension Evaluator {
    /// What a chain of members leads to. A member of anything but an object is null.
    func authValue(_ names: [String]) -> RuleValue {
        guard var found = context.auth else { return .null }
        for name in names {
            guard case .object(let members) = found, let next = members[name] else { return .null }
            found = next
        }
        return RuleValue(found)
    }

    static func member(_ name: String, of receiver: RuleValue) -> RuleValue {
        guard case .json(let object) = receiver else { return .null }
        return RuleValue(object[name])
    }

    mutating func subscripted(_ op: Op) throws(Fault) -> RuleValue {
        let receiver = try value(op.a)
        switch try value(op.b) {
        case .string(let name): return Self.member(name, of: receiver)
        case .number(let number):
            guard case .json(let array) = receiver, let index = Int(exactly: number) else { return .null }
            return RuleValue(array[index])
        case let key: throw Fault(reason: .needsString, op: op.b, found: key.kind)
        }
    }

    func queried(_ field: Op.QueryField) -> RuleValue {
        // A read of a whole node counts as one in the order of keys, as in the hosted service.
        guard let query else { return field.type == .boolean ? .boolean(field == .orderByKey) : .null }
        switch field {
        case .orderByChild:
            guard case .child(let path) = query.order else { return .null }
            return .string(path.segments.joined(separator: "/"))
        case .orderByKey: return .boolean(query.order == .key)
        case .orderByValue: return .boolean(query.order == .value)
        case .orderByPriority: return .boolean(query.order == .priority)
        case .startAt: return query.start.map { RuleValue($0.value) } ?? .null
        case .endAt: return query.end.map { RuleValue($0.value) } ?? .null
        case .equalTo:
            // On the wire, too, this is a range of one value.
            guard let start = query.start, let end = query.end, start.isInclusive, end.isInclusive else { return .null }
            return start.value == end.value ? RuleValue(start.value) : .null
        case .limitToFirst: return query.anchorsLast ? .null : query.limit.map { .number(Double($0)) } ?? .null
        case .limitToLast: return query.anchorsLast ? query.limit.map { .number(Double($0)) } ?? .null : .null
        }
    }
}
