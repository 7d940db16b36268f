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

/// Nothing, false, true, numbers, texts, objects.
private enum ValueRank: Comparable {
    case null, no, yes
    case number(Double)
    case text(UTF16Text)
    case object

    init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let isTrue): self = isTrue ? .yes : .no
        case .int, .uint, .double: self = .number(value.double ?? 0)
        case .string(let text): self = .text(UTF16Text(text))
        case .array, .object: self = .object
        }
    }
}

/// Keys that are numbers of 32 bits by their number, then all others by their UTF-16 units.
private enum KeyRank: Comparable {
    case number(Int32, length: Int)
    case text(UTF16Text)

    init(_ key: String) {
        let digits = key.utf8.first == UInt8(ascii: "-") ? key.utf8.dropFirst() : key.utf8[...]
        if !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }), let number = Int32(key) {
            self = .number(number, length: key.utf8.count)
        } else {
            self = .text(UTF16Text(key))
        }
    }
}

private struct UTF16Text: Comparable {
    let text: String

    init(_ text: String) { self.text = text }

    static func < (left: UTF16Text, right: UTF16Text) -> Bool {
        left.text.utf16.lexicographicallyPrecedes(right.text.utf16)
    }

    static func == (left: UTF16Text, right: UTF16Text) -> Bool { left.text.utf16.elementsEqual(right.text.utf16) }
}
