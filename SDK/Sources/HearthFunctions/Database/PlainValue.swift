/// A value as clients show it, made from the form that the database exports (spec database 1.2 and 1.3): without priorities,
/// and with arrays where the keys are mostly 0, 1, 2, ...
struct PlainValue {
    let value: JSONValue
    let hasPriorities: Bool

    init(exported: JSONValue) {
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
