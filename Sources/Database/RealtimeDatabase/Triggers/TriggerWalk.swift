import Store
import Tree

/// The walk of one write through the tree of patterns.
///
/// First it descends to each written path; the values above it are computed from the old value and the changes. Then, at the written path and
/// below, it walks the old and the new value together. Old values are read only where a pattern ends.
struct TriggerWalk {
    typealias Emit = (TriggeredEvent) throws(StoreError) -> Void
    typealias Failure = TriggerMatcher.Failure

    let trie: TriggerTrie
    let old: OldTree
    let limits: TriggerLimits
    private(set) var cost = MatchCost()
    /// The changes in the order of the tree, so that those below the same place are contiguous.
    private(set) var changes: [WrittenValue] = []
    /// The keys of the present position.
    private var keys: [String] = []

    /// A written value, and whether it differs from the old one, if this is known.
    struct WrittenValue {
        var path: Path
        var node: Node
        var differs: Bool?
    }

    init(trie: TriggerTrie, old: TreeReader, limits: TriggerLimits) {
        self.trie = trie
        // Rows are up to 3.5 times as large as JSON: seven bytes for "1," in an array.
        self.old = OldTree(reader: old, bytesMax: limits.eventBytesMax.multipliedReportingOverflow(by: 4).partialValue)
        self.limits = limits
    }

    mutating func run(_ changes: [(path: Path, node: Node)], _ emit: Emit) throws(Failure) -> MatchCost {
        self.changes = changes.map { WrittenValue(path: $0.path, node: $0.node) }
        if changes.count > 1 { self.changes.sort { $0.path < $1.path } }
        guard !changes.isEmpty else { return cost }
        try goDown(changes.indices, .stored(.root), trie.start, claimed: [], emit)
        return cost
    }

    // MARK: Above the written paths

    /// - Parameters:
    ///   - range: the changes at or below the place.
    ///   - claimed: declarations with `**` whose event was already raised above.
    private mutating func goDown(
        _ range: Range<Int>, _ value: OldValue, _ places: [Int], claimed: Set<Int>, _ emit: Emit
    ) throws(Failure) {
        cost.visitedNodes += places.count
        guard !places.isEmpty else { return }
        let depth = keys.count
        guard changes[range.lowerBound].path.count > depth else {
            if changes[range.lowerBound].differs != false {
                try spread(value, changes[range.lowerBound].node, places, claimed: claimed, isWritten: true, emit)
            }
            return
        }
        var value = value
        var claimed = claimed
        var due: [Int] = []
        for index in try candidates(places, &value) where try isDue(index, range, value, &claimed) { due.append(index) }
        if !due.isEmpty { try emitAbove(due, range, &value, emit) }
        var start = range.lowerBound
        while start < range.upperBound {
            let key = changes[start].path.segments[depth]
            var end = start + 1
            while end < range.upperBound, KeyOrder.areEqual(changes[end].path.segments[depth], key) { end += 1 }
            keys.append(key)
            try goDown(start..<end, value.child(key), trie.advance(places, key), claimed: claimed, emit)
            keys.removeLast()
            start = end
        }
    }

    /// Whether a function must run for the place, which is above the changes of `range`.
    private mutating func isDue(_ index: Int, _ range: Range<Int>, _ value: OldValue, _ claimed: inout Set<Int>) throws(Failure) -> Bool {
        let pattern = trie.declarations[index].pattern
        guard pattern.manyIndex != nil else {
            for change in range where try differs(change, below: value) { return true }
            return false
        }
        // If the pattern matches the written path, the event is raised there (spec functions 8.3).
        guard !claimed.contains(index) else { return false }
        for change in range where !pattern.matches(changes[change].path) {
            if try differs(change, below: value) {
                claimed.insert(index)
                return true
            }
        }
        return false
    }

    private mutating func differs(_ index: Int, below value: OldValue) throws(Failure) -> Bool {
        if let known = changes[index].differs { return known }
        let value = changes[index].path.segments[keys.count...].reduce(value) { $0.child($1) }
        let node = changes[index].node
        let differs = try read { () throws(StoreError) in
            try node.isEmpty ? old.exists(value) : !old.isSame(value, as: node)
        }
        changes[index].differs = differs
        return differs
    }

    /// Emits the events of a place above the changes of `range`. `value` is its old value, which is replaced by the value in memory if that is
    /// possible.
    private mutating func emitAbove(_ due: [Int], _ range: Range<Int>, _ value: inout OldValue, _ emit: Emit) throws(Failure) {
        let place = value
        guard let before = try read({ () throws(StoreError) in try old.load(place) }) else {
            let remains = try read { () throws(StoreError) in try isLeft(of: place, after: range, depth: keys.count) }
            return try emitEvents(due, remains ? .updated : .deleted, nil, emit)
        }
        value = .memory(before)
        var after = before
        for change in range {
            after.set(changes[change].node, at: Path(Array(changes[change].path.segments[keys.count...])))
        }
        try emitEvents(due, EventValues(before: before, after: after), emit)
    }

    /// Whether a value still exists after the changes of `range`.
    private func isLeft(of value: OldValue, after range: Range<Int>, depth: Int) throws(StoreError) -> Bool {
        if changes[range].contains(where: { !$0.node.isEmpty }) { return true }
        let pageSize = range.count + 1
        var after: String?
        var hasChildren = false
        while true {
            let names = try old.childKeys(value, after: after, limit: pageSize)
            hasChildren = hasChildren || !names.isEmpty
            for name in names {
                let first = changes[range].firstPosition { KeyOrder.precedes($0.path.segments[depth], name) }
                let end = changes[first..<range.upperBound].firstPosition { KeyOrder.areEqual($0.path.segments[depth], name) }
                if first == end { return true }
                if changes[first].path.count == depth + 1 { continue }
                if try isLeft(of: value.child(name), after: first..<end, depth: depth + 1) { return true }
            }
            // A leaf remains, because deleting below it has no effect.
            guard names.count == pageSize else { return hasChildren ? false : try old.exists(value) }
            after = names.last
        }
    }

    // MARK: At and below the written paths

    private mutating func spread(
        _ value: OldValue, _ new: Node, _ places: [Int], claimed: Set<Int>, isWritten: Bool, _ emit: Emit
    ) throws(Failure) {
        var value = value
        var claimed = claimed
        if case .memory(let node) = value, node.isEmpty, new.isEmpty { return }
        let due = try candidates(places, &value).filter { isWritten || !claimed.contains($0) }
        if !due.isEmpty {
            let place = value
            if let before = try read({ () throws(StoreError) in try old.load(place) }) {
                value = .memory(before)
                guard !before.hasSameValue(as: new) else { return }
                try emitEvents(due, EventValues(before: before, after: new), emit)
            } else {
                guard try !read({ () throws(StoreError) in try old.isSame(place, as: new) }) else { return }
                try emitEvents(due, new.isEmpty ? .deleted : .updated, nil, emit)
            }
            for index in due where trie.declarations[index].pattern.manyIndex != nil { claimed.insert(index) }
        }
        let open = claimed.isEmpty ? places : trie.open(places, claimed: claimed)
        if trie.leadsOnWithAnyKey(open) {
            try spreadToAll(value, new, open, claimed, emit)
        } else {
            try spreadToLiterals(value, new, open, claimed, emit)
        }
    }

    private mutating func spread(
        to key: String, _ value: OldValue, _ new: Node, _ places: [Int], _ claimed: Set<Int>, _ emit: Emit
    ) throws(Failure) {
        let next = trie.advance(places, key)
        cost.visitedNodes += next.count
        guard !next.isEmpty else { return }
        keys.append(key)
        try spread(value, new, next, claimed: claimed, isWritten: false, emit)
        keys.removeLast()
    }

    /// Continues with all old and new children.
    private mutating func spreadToAll(
        _ value: OldValue, _ new: Node, _ places: [Int], _ claimed: Set<Int>, _ emit: Emit
    ) throws(Failure) {
        let pageSize = 256
        var rest = new.children[...]
        var after: String?
        while true {
            let last = after
            let keys = try read { () throws(StoreError) in try old.childKeys(value, after: last, limit: pageSize) }
            for key in keys {
                while let child = rest.first, KeyOrder.precedes(child.key, key) {
                    rest.removeFirst()
                    try spread(to: child.key, .absent, child.node, places, claimed, emit)
                }
                var node = Node.empty
                if let child = rest.first, KeyOrder.areEqual(child.key, key) {
                    rest.removeFirst()
                    node = child.node
                }
                try spread(to: key, value.child(key), node, places, claimed, emit)
            }
            guard keys.count == pageSize else { break }
            after = keys.last
        }
        for child in rest { try spread(to: child.key, .absent, child.node, places, claimed, emit) }
    }

    /// Continues with the children that patterns name. Alternates between keys of patterns and of data, so that the number of steps is limited by
    /// the smaller one of both.
    private mutating func spreadToLiterals(
        _ value: OldValue, _ new: Node, _ places: [Int], _ claimed: Set<Int>, _ emit: Emit
    ) throws(Failure) {
        let children = new.children
        var candidate = trie.firstLiteral(places, from: nil, isAfter: false)
        while let key = candidate {
            let node = new.child(key)
            let child = value.child(key)
            let isThere = try read { () throws(StoreError) in node.isEmpty ? try old.exists(child) : true }
            if isThere { try spread(to: key, child, node, places, claimed, emit) }
            guard trie.firstLiteral(places, from: key, isAfter: true) != nil else { return }
            let slot = children.firstPosition { !KeyOrder.precedes(key, $0.key) }
            var next = slot < children.count ? children[slot].key : nil
            let stored = try read { () throws(StoreError) in try old.childKeys(value, after: key, limit: 1).first }
            if let stored, next.map({ KeyOrder.precedes(stored, $0) }) ?? true { next = stored }
            guard let next else { return }
            candidate = trie.firstLiteral(places, from: next, isAfter: false)
        }
    }

    // MARK: Events

    /// The functions whose patterns end here, except for kinds that are impossible for the old value.
    private func candidates(_ places: [Int], _ value: inout OldValue) throws(Failure) -> [Int] {
        guard places.contains(where: { !trie.nodes[$0].terminals.isEmpty }) else { return [] }
        let place = value
        let exists = try read { () throws(StoreError) in try old.exists(place) }
        if !exists { value = .absent }
        var candidates: [Int] = []
        for place in places {
            for index in trie.nodes[place].terminals {
                let declaration = trie.declarations[index]
                // For a pattern with `**`, this place is claimed on the branch in any case.
                guard declaration.pattern.manyIndex != nil || declaration.kind.isPossible(ifThere: exists) else { continue }
                candidates.append(index)
            }
        }
        return candidates
    }

    private mutating func emitEvents(_ due: [Int], _ values: EventValues, _ emit: Emit) throws(Failure) {
        let change = values.change
        let due = due.filter { trie.declarations[$0].kind.covers(change) }
        if !due.isEmpty { try emitEvents(due, change, values.payload(bytesMax: limits.eventBytesMax), emit) }
    }

    /// - Parameter payload: nil if it is too large for an event.
    private mutating func emitEvents(_ due: [Int], _ change: TriggerKind, _ payload: [UInt8]?, _ emit: Emit) throws(Failure) {
        var path: Path?
        for index in due where trie.declarations[index].kind.covers(change) {
            if limits.isStrict {
                guard payload != nil else { throw .refused(.eventTooLarge) }
                guard cost.events < limits.functionsMax else { throw .refused(.tooManyFunctions) }
            }
            cost.events += 1
            let place = path ?? Path(keys)
            path = place
            let event = TriggeredEvent(
                declaration: trie.declarations[index], path: place, change: change, payload: payload ?? EventValues.truncatedPayload)
            do throws(StoreError) { try emit(event) } catch { throw .store(error) }
        }
    }

    private func read<R>(_ body: () throws(StoreError) -> R) throws(Failure) -> R {
        do throws(StoreError) { return try body() } catch { throw .store(error) }
    }
}
