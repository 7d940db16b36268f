import Tree
import HearthJSON

/// Evaluation of snapshots: locations in the tree before or after the write.
///
/// Snapshots are not kept: the key of one is built on a stack and dropped after its use.
extension Evaluator {
    struct Place {
        var isNew: Bool
        /// The start of its key in `places`; the key ends where `places` ends.
        var start: Int
        /// Levels below an invalid key.
        var nowhere: Int
    }

    private mutating func place(_ index: Int32) throws(Fault) -> Place {
        let op = op(index)
        switch op.code {
        case .place: return fixed(op)
        case .child:
            var place = try place(op.a)
            descend(try string(op.b), &place)
            try take(1 + (places.bytes.count - place.start) / RuleBudget.textBytesPerStep, at: index)
            return place
        case .parent:
            var place = try place(op.a)
            try ascend(&place, index)
            return place
        default: return try condition(op.a) ? place(op.b) : place(op.c)
        }
    }

    @inline(__always)
    private mutating func fixed(_ op: Op) -> Place {
        var place = Place(isNew: op.a == Op.Base.newData.rawValue, start: places.bytes.count, nowhere: 0)
        if op.a != Op.Base.root.rawValue {
            locate()
            places.bytes.append(contentsOf: base.bytes[..<levelEnds[depth - Int(op.b)]])
        }
        if op.c >= 0 {
            let path = program.paths[Int(op.c)]
            places.bytes.append(contentsOf: path.key.bytes)
            place.nowhere = path.nowhere
        }
        return place
    }

    private mutating func descend(_ text: String, _ place: inout Place) {
        var text = text
        text.withUTF8 { bytes in
            PathText.forEachSegment(bytes) { segment, isKey in
                if place.nowhere > 0 || !isKey {
                    place.nowhere += 1
                } else {
                    places.append(Span(_unsafeElements: segment))
                }
            }
        }
    }

    private mutating func ascend(_ place: inout Place, _ index: Int32) throws(Fault) {
        if place.nowhere > 0 {
            place.nowhere -= 1
            return
        }
        guard places.bytes.count > place.start else { throw Fault(reason: .noParent, op: index) }
        var last = place.start
        var next = place.start
        while let end = PathKey.segmentEnd(places.bytes.span, from: next) {
            last = next
            next = end
        }
        forget(from: last)
    }

    @inline(__always)
    private mutating func forget(from start: Int) { places.bytes.removeLast(places.bytes.count - start) }

    // MARK: Data access

    /// The new value at the place `index` if it is known: the place is the rule's node or below it by literal names.
    @inline(__always)
    private func known(_ index: Int32) -> Node? {
        guard let written else { return nil }
        let op = op(index)
        guard op.code == .place, op.a == Op.Base.newData.rawValue, op.b == 0 else { return nil }
        guard op.c >= 0 else { return written }
        let path = program.paths[Int(op.c)]
        guard path.nowhere == 0 else { return .empty }
        var node = written
        for segment in path.segments { node = node.child(segment) }
        return node
    }

    /// Calls `body` with the key and the tree of a place; nil for a place that is always empty.
    @inline(__always)
    private mutating func ask<R>(
        _ place: Place, _ index: Int32, _ body: (any RuleData, PathKey) throws -> R?
    ) throws(Fault) -> R? {
        try take(RuleBudget.readSteps, at: index)
        defer { forget(from: place.start) }
        if place.nowhere > 0 { return nil }
        do {
            if place.start == 0 { return try body(place.isNew ? new : old, places) }
            // Copies the key: an argument of `child()` may read data while the receiver's key is on the stack.
            let key = PathKey(bytes: Array(places.bytes[place.start...]))
            return try body(place.isNew ? new : old, key)
        } catch {
            throw cannotRead(error, at: index)
        }
    }

    mutating func leaf(_ index: Int32) throws(Fault) -> Leaf? {
        if let node = known(index) { return node.leaf }
        let leaf = try ask(try place(index), index) { try $0.leaf(at: $1) }
        if case .string(let text) = leaf { try take(text.utf8.count / RuleBudget.textBytesPerStep, at: index) }
        return leaf
    }

    mutating func exists(_ index: Int32) throws(Fault) -> Bool {
        if let node = known(index) { return !node.isEmpty }
        return try ask(try place(index), index) { try $0.exists(at: $1) } ?? false
    }

    mutating func hasChildren(_ index: Int32) throws(Fault) -> Bool {
        if let node = known(index) {
            if case .children = node.content { return true }
            return false
        }
        return try ask(try place(index), index) { try $0.hasChildren(at: $1) } ?? false
    }

    mutating func priority(_ index: Int32) throws(Fault) -> Priority? {
        if let node = known(index) { return node.priority }
        return try ask(try place(index), index) { try $0.priority(at: $1) }
    }

    mutating func storedValue(_ index: Int32) throws(Fault) -> RuleValue {
        if let node = known(index) {
            switch node.content {
            case .empty: return .null
            case .leaf(let leaf): return RuleValue(leaf)
            case .children: return .object
            }
        }
        let value: RuleValue? = try ask(try place(index), index) { data, key in
            if let leaf = try data.leaf(at: key) { return RuleValue(leaf) }
            return try data.hasChildren(at: key) ? .object : nil
        }
        if case .string(let text) = value { try take(text.utf8.count / RuleBudget.textBytesPerStep, at: index) }
        return value ?? .null
    }

    /// Whether all children that `list`, a range of the operands, names exist below the receiver.
    mutating func hasChildren(_ receiver: Int32, named list: Range<Int32>) throws(Fault) -> Bool {
        let parent = try place(receiver)
        let end = places.bytes.count
        for position in list {
            let index = program.operands[Int(position)]
            var place = parent
            descend(try string(index), &place)
            try take(RuleBudget.readSteps + (places.bytes.count - place.start) / RuleBudget.textBytesPerStep, at: index)
            let isThere = place.nowhere == 0 ? try isAnything(at: place, index) : false
            forget(from: end)
            guard isThere else {
                forget(from: parent.start)
                return false
            }
        }
        forget(from: parent.start)
        return true
    }

    private mutating func isAnything(at place: Place, _ index: Int32) throws(Fault) -> Bool {
        let key = place.start == 0 ? places : PathKey(bytes: Array(places.bytes[place.start...]))
        do { return try place.isNew ? new.exists(at: key) : old.exists(at: key) } catch { throw cannotRead(error, at: index) }
    }
}

/// Evaluation of `auth` and `query`.
extension Evaluator {
    /// The value of a chain of members. A member of anything but an object is null.
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
        // A read without a query counts as one in key order, as in the hosted service.
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
            // `equalTo` is a range with one value, also on the wire.
            guard let start = query.start, let end = query.end, start.isInclusive, end.isInclusive else { return .null }
            return start.value == end.value ? RuleValue(start.value) : .null
        case .limitToFirst: return query.anchorsLast ? .null : query.limit.map { .number(Double($0)) } ?? .null
        case .limitToLast: return query.anchorsLast ? query.limit.map { .number(Double($0)) } ?? .null : .null
        }
    }
}
