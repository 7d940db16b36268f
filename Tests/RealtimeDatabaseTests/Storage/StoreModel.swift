import Store

@testable import RealtimeDatabase

/// The simplest model of a store: sorted arrays.
struct StoreModel: Equatable {
    struct Row: Equatable {
        var key: [UInt8]
        var value: [UInt8]
    }

    private var rows = Array(repeating: [Row](), count: Keyspace.allCases.count)

    func rows(_ space: Keyspace) -> [Row] { rows[space.rawValue] }

    func get(_ key: [UInt8], in space: Keyspace) -> [UInt8]? {
        rows[space.rawValue].first { $0.key == key }?.value
    }

    mutating func put(_ key: [UInt8], _ value: [UInt8], in space: Keyspace) {
        rows[space.rawValue].removeAll { $0.key == key }
        rows[space.rawValue].append(Row(key: key, value: value))
        rows[space.rawValue].sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    mutating func delete(_ key: [UInt8], in space: Keyspace) -> Bool {
        let before = rows[space.rawValue].count
        rows[space.rawValue].removeAll { $0.key == key }
        return rows[space.rawValue].count < before
    }

    mutating func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) -> Int {
        let doomed = range(lower, upper, in: space).prefix(limit ?? .max)
        rows[space.rawValue].removeAll { row in doomed.contains { $0.key == row.key } }
        return doomed.count
    }

    func scan(_ space: Keyspace, _ lower: [UInt8], _ upper: [UInt8], reversed: Bool, _ body: (Row) -> ScanStep) {
        let found = range(lower, upper, in: space)
        let rows = reversed ? found.reversed() : found
        var place = 0
        while place < rows.count {
            let step = body(rows[place])
            place += 1
            switch step {
            case .next: break
            case .stop: return
            case .seek(let target):
                while place < rows.count, isBefore(rows[place].key, target, reversed: reversed) { place += 1 }
            }
        }
    }

    private func isBefore(_ key: [UInt8], _ target: [UInt8], reversed: Bool) -> Bool {
        reversed ? target.lexicographicallyPrecedes(key) : key.lexicographicallyPrecedes(target)
    }

    private func range(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace) -> [Row] {
        rows[space.rawValue].filter {
            !$0.key.lexicographicallyPrecedes(lower) && (upper.isEmpty || $0.key.lexicographicallyPrecedes(upper))
        }
    }
}

extension ReadableStore {
    func value(_ key: [UInt8], in space: Keyspace = .tree) throws(StoreError) -> [UInt8]? {
        try get(key, in: space) { bytes in bytes.withUnsafeBufferPointer { [UInt8]($0) } }
    }

    /// All rows of a range.
    func rows(
        _ space: Keyspace = .tree, from lower: [UInt8] = [], to upper: [UInt8] = [], reversed: Bool = false
    ) throws(StoreError) -> [StoreModel.Row] {
        var rows: [StoreModel.Row] = []
        try scan(space, from: lower, to: upper, reversed: reversed) { key, value in
            rows.append(StoreModel.Row(key, value))
            return .next
        }
        return rows
    }
}

extension OrderedStore {
    func put(_ key: [UInt8], _ value: [UInt8], in space: Keyspace = .tree) throws(StoreError) {
        try put(key, value.span, in: space)
    }

    /// One transaction.
    func write(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try begin()
        try body()
        try commit()
    }
}

extension StoreModel.Row {
    init(_ key: Span<UInt8>, _ value: Span<UInt8>) {
        self.init(key: key.withUnsafeBufferPointer { [UInt8]($0) }, value: value.withUnsafeBufferPointer { [UInt8]($0) })
    }
}
