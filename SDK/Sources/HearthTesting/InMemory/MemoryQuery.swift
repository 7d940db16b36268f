internal import HearthFunctions
internal import HearthJSON

/// A query of the in-memory database: an order, two bounds and a limit.
struct MemoryQuery {
    private struct Bound {
        var value: JSONValue
        var key: String?
        var isInclusive: Bool
    }

    private var order = "$priority"
    private var start: Bound?
    private var end: Bound?
    private var first: Int?
    private var last: Int?

    /// Reads the member `query` of a call.
    init(_ payload: JSONValue) throws(MemoryRefusal) {
        guard case .object(let members) = payload else { throw .invalid("query must be an object.") }
        for (name, value) in members {
            switch name {
            case "orderBy": order = value.string ?? order
            case "startAt": start = Self.bound(value, isInclusive: true)
            case "startAfter": start = Self.bound(value, isInclusive: false)
            case "endAt": end = Self.bound(value, isInclusive: true)
            case "endBefore": end = Self.bound(value, isInclusive: false)
            case "equalTo": (start, end) = (Self.bound(value, isInclusive: true), Self.bound(value, isInclusive: true))
            case "limitToFirst": first = value.int
            case "limitToLast": last = value.int
            default: throw .invalid("query has no member \"\(name)\".")
            }
        }
    }

    private static func bound(_ value: JSONValue, isInclusive: Bool) -> Bound {
        Bound(value: value["value"] ?? .null, key: value["key"]?.string, isInclusive: isInclusive)
    }

    /// The selected children of `node`, as an object in the order of their keys.
    func selected(from node: JSONValue) -> JSONValue {
        var children = MemoryTree.children(of: node)
            .map { (rank: rank(of: $0.value), key: KeyRank($0.key), name: $0.key, value: $0.value) }
            .sorted { ($0.rank, $0.key) < ($1.rank, $1.key) }
        children = children.filter { isBehindStart($0.rank, $0.key) && isBeforeEnd($0.rank, $0.key) }
        if let first { children = Array(children.prefix(first)) }
        if let last { children = Array(children.suffix(last)) }
        return MemoryTree.ordered(.object(JSONObject(children.map { ($0.name, $0.value) })))
    }

    private func rank(of child: JSONValue) -> ValueRank {
        switch order {
        case "$key": ValueRank(.null)
        case "$value": ValueRank(MemoryTree.stripped(child))
        case "$priority": ValueRank(MemoryTree.priority(of: child))
        default: ValueRank(MemoryTree.stripped(MemoryTree.node(child, at: order.split(separator: "/").map(String.init))))
        }
    }

    private func isBehindStart(_ rank: ValueRank, _ key: KeyRank) -> Bool {
        guard let start else { return true }
        guard let boundKey = self.key(of: start) else { return start.isInclusive ? !(rank < self.rank(of: start)) : self.rank(of: start) < rank }
        let (own, bound) = ((rank, key), (self.rank(of: start), boundKey))
        return start.isInclusive ? own >= bound : own > bound
    }

    private func isBeforeEnd(_ rank: ValueRank, _ key: KeyRank) -> Bool {
        guard let end else { return true }
        guard let boundKey = self.key(of: end) else { return end.isInclusive ? !(self.rank(of: end) < rank) : rank < self.rank(of: end) }
        let (own, bound) = ((rank, key), (self.rank(of: end), boundKey))
        return end.isInclusive ? own <= bound : own < bound
    }

    /// Ordered by key, the value of a bound is a key.
    private func rank(of bound: Bound) -> ValueRank { order == "$key" ? ValueRank(.null) : ValueRank(bound.value) }

    private func key(of bound: Bound) -> KeyRank? {
        (order == "$key" ? bound.value.string : bound.key).map { KeyRank($0) }
    }
}
