/// The members of a JSON object in their order, found by name.
///
/// Setting a name that is there keeps its place; of equal names in a text the last value counts. Two objects are equal when
/// they have equal members, in whatever order. Names are equal when their code points are.
public struct JSONObject: Sendable {
    /// A member as iteration gives it.
    public typealias Element = (key: String, value: JSONValue)

    private var members: [Element] = []
    /// The position of each name, once there are more than `indexedAbove` members; else empty.
    private var positions: [ExactText: Int] = [:]

    private static let indexedAbove = 12

    /// No members.
    public init() {}

    /// No members, and room for so many.
    public init(minimumCapacity: Int) { members.reserveCapacity(minimumCapacity) }

    /// The last value of equal names counts, in the place of the first.
    public init<S: Sequence>(_ elements: S) where S.Element == (String, JSONValue) {
        members.reserveCapacity(elements.underestimatedCount)
        for (name, value) in elements { self[name] = value }
    }

    /// The members of a dictionary, in the dictionary's order.
    public init(unordered elements: [String: JSONValue]) {
        self.init(elements.lazy.map { ($0.key, $0.value) })
    }

    /// The number of members.
    public var count: Int { members.count }
    /// Whether there are none.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in their order.
    public var keys: some RandomAccessCollection<String> { members.lazy.map(\.key) }

    /// The values in their order.
    public var values: some RandomAccessCollection<JSONValue> { members.lazy.map(\.value) }

    /// The value under `name`. Setting a new name appends it, setting nil removes it.
    public subscript(name: String) -> JSONValue? {
        get { position(of: name).map { members[$0].value } }
        set {
            guard let newValue else {
                removeValue(forKey: name)
                return
            }
            if let position = position(of: name) {
                members[position].value = newValue
            } else {
                append(name, newValue)
            }
        }
    }

    /// Removes the member and returns its value; the others keep their order.
    @discardableResult
    public mutating func removeValue(forKey name: String) -> JSONValue? {
        guard let position = position(of: name) else { return nil }
        let removed = members.remove(at: position).value
        if !positions.isEmpty { index() }
        return removed
    }

    private mutating func append(_ name: String, _ value: JSONValue) {
        members.append((name, value))
        if !positions.isEmpty {
            positions[ExactText(name)] = members.count - 1
        } else if members.count > Self.indexedAbove {
            index()
        }
    }

    private mutating func index() {
        positions.removeAll(keepingCapacity: true)
        guard members.count > Self.indexedAbove else { return }
        positions.reserveCapacity(members.count)
        for (position, member) in members.enumerated() { positions[ExactText(member.key)] = position }
    }

    private func position(of name: String) -> Int? {
        if !positions.isEmpty { return positions[ExactText(name)] }
        return members.firstIndex { ExactText($0.key) == ExactText(name) }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public subscript(position: Int) -> Element { members[position] }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        var combined = 0
        for member in members {
            var hasher = Hasher()
            hasher.combine(ExactText(member.key))
            hasher.combine(member.value)
            combined ^= hasher.finalize()
        }
        hasher.combine(combined)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
