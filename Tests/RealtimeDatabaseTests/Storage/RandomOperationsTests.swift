import FuzzSupport
import Store
import Testing

@testable import RealtimeDatabase

/// The same operations on both engines and on a model. A failure names its seed.
@Suite("Stores under random operations")
struct RandomOperationsTests {
    @Test("engines do what the model does", arguments: UInt64(1)...12)
    func agrees(seed: UInt64) throws {
        try TemporaryFolder.with { folder in
            var small = StoreSettings()
            // Small limits cause checkpoints and evictions with few rows.
            small.logPagesMax = 8
            small.writerCacheBytes = 64 << 10
            var run = try RandomRun(seed: seed, engines: [SQLiteStorage(directory: folder, settings: small), MemoryStorage()])
            for _ in 0..<40 { try run.transaction() }
            try run.reopen()
            try run.compareAll()
        }
    }
}

/// Stores that get the same operations, the model, and what the operations are taken from.
private struct RandomRun {
    private let engines: [any StorageEngine]
    private var writers: [any OrderedStore] = []
    private var readers: [any SnapshotStore] = []
    private var model = StoreModel()
    private var random: SeededRandom

    init(seed: UInt64, engines: [any StorageEngine]) throws {
        self.engines = engines
        random = SeededRandom(seed: seed)
        try reopen()
    }

    mutating func reopen() throws {
        writers = []
        readers = []
        for engine in engines {
            writers.append(try engine.openWriter(namespace: "a"))
            readers.append(try engine.openReader(namespace: "a"))
        }
    }

    mutating func transaction() throws {
        let committed = model
        for reader in readers { try reader.beginSnapshot() }
        for writer in writers { try writer.begin() }
        for _ in 0..<Int.random(in: 1...40, using: &random) { try operation() }
        // Readers see nothing of it yet.
        try compare(readers, committed)
        if Int.random(in: 0..<4, using: &random) == 0 {
            for writer in writers { writer.rollback() }
            model = committed
        } else {
            for writer in writers { try writer.commit() }
        }
        // And those with a snapshot still do not.
        try compare(readers, committed)
        for reader in readers { reader.endSnapshot() }
        try compare(readers, model)
        for writer in writers { _ = try writer.checkpoint(Bool.random(using: &random) ? .idle : .committed) }
    }

    func compareAll() throws {
        try compare(writers, model)
        try compare(readers, model)
    }

    private func compare(_ stores: [any ReadableStore], _ model: StoreModel) throws {
        for store in stores {
            for space in Keyspace.allCases { #expect(try store.rows(space) == model.rows(space)) }
        }
    }

    /// Few keys, which are often equal or continue each other; now and then long ones.
    private mutating func key() -> [UInt8] {
        let count = Int.random(in: 0..<20, using: &random) == 0 ? 700 : Int.random(in: 0...5, using: &random)
        let alphabet: [UInt8] = [0, 1, 0x7F, 0xFF]
        return (0..<count).map { _ in alphabet[Int.random(in: 0..<4, using: &random)] }
    }

    private mutating func value() -> [UInt8] {
        let count = Int.random(in: 0..<20, using: &random) == 0 ? 10_000 : Int.random(in: 0...30, using: &random)
        return Array(repeating: UInt8.random(in: 0...255, using: &random), count: count)
    }

    private mutating func operation() throws {
        let space = Bool.random(using: &random) ? Keyspace.tree : Keyspace.allCases[Int.random(in: 0..<5, using: &random)]
        let (key, other, value) = (key(), key(), value())
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6:
            model.put(key, value, in: space)
            for writer in writers { try writer.put(key, value, in: space) }
        case 6:
            let expected = model.delete(key, in: space)
            for writer in writers { #expect(try writer.delete(key, in: space) == expected) }
        case 7:
            let limit = Bool.random(using: &random) ? Int.random(in: 0..<10, using: &random) : nil
            let expected = model.deleteRange(key, other, in: space, limit: limit)
            for writer in writers { #expect(try writer.deleteRange(key, other, in: space, limit: limit) == expected) }
        case 8, 9:
            let expected = model.get(key, in: space)
            for writer in writers { #expect(try writer.value(key, in: space) == expected) }
        default:
            try scan(space, key, other)
        }
    }

    private mutating func scan(_ space: Keyspace, _ lower: [UInt8], _ upper: [UInt8]) throws {
        let reversed = Bool.random(using: &random)
        var script = ScanScript(seed: random.next())
        model.scan(space, lower, upper, reversed: reversed) { row in
            let (step, nested) = script.step(row)
            if let nested {
                model.scan(.tree, nested, [], reversed: !reversed) { script.nestedStep($0) }
                script.note(model.get(nested, in: space))
            }
            return step
        }
        for writer in writers {
            var found = ScanScript(seed: script.seed)
            var failure: StoreError?
            try writer.scan(space, from: lower, to: upper, reversed: reversed) { key, value in
                let (step, nested) = found.step(StoreModel.Row(key, value))
                guard let nested else { return step }
                do throws(StoreError) {
                    try writer.scan(.tree, from: nested, to: [], reversed: !reversed) { found.nestedStep(StoreModel.Row($0, $1)) }
                    found.note(try writer.value(nested, in: space))
                } catch {
                    failure = error
                }
                return step
            }
            #expect(failure == nil)
            #expect(found.seen == script.seen)
        }
    }
}

/// The body of a scan, deterministic for the seed and rows, and its results.
private struct ScanScript {
    let seed: UInt64
    private var random: SeededRandom
    private(set) var seen: [StoreModel.Row] = []

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
    }

    /// How to go on, and where a nested scan begins.
    mutating func step(_ row: StoreModel.Row) -> (ScanStep, nested: [UInt8]?) {
        seen.append(row)
        let nested = Int.random(in: 0..<6, using: &random) == 0 ? target(row) : nil
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return (.stop, nested)
        case 1..<4: return (.seek(target(row)), nested)
        default: return (.next, nested)
        }
    }

    mutating func nestedStep(_ row: StoreModel.Row) -> ScanStep {
        seen.append(row)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .seek(target(row))
        case 1: return .stop
        default: return .next
        }
    }

    mutating func note(_ value: [UInt8]?) {
        seen.append(StoreModel.Row(key: value == nil ? [] : [1], value: value ?? []))
    }

    /// A key before, at or behind the row's.
    private mutating func target(_ row: StoreModel.Row) -> [UInt8] {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: row.key
        case 1: row.key + [UInt8.random(in: 0...255, using: &random)]
        case 2: row.key.dropLast() + [UInt8.random(in: 0...255, using: &random)]
        default: [UInt8.random(in: 0...255, using: &random)]
        }
    }
}
