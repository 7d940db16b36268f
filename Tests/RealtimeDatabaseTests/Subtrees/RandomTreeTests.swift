import Testing

@testable import RealtimeDatabase

/// Random operations on the tree in rows and on one in memory. A failure names its seed.
@Suite("The tree under random operations")
struct RandomTreeTests {
    @Test("rows in memory agree with the model", arguments: UInt64(1)...12)
    func memory(seed: UInt64) throws {
        try run(seed: seed, steps: 12_000, store: try MemoryStorage().openWriter(namespace: "random"))
    }

    @Test("rows in SQLite agree with the model", arguments: UInt64(101)...108)
    func sqlite(seed: UInt64) throws {
        try TemporaryFolder.with { folder in
            try run(seed: seed, steps: 10_000, store: try SQLiteStorage(directory: folder).openWriter(namespace: "random"))
        }
    }

    private func run(seed: UInt64, steps: Int, store: any OrderedStore) throws {
        var run = try TreeRun(seed: seed, store: store)
        for step in 1...steps {
            try run.step()
            if step % 1000 == 0 { try run.compareAll() }
        }
        try run.sweepAll()
    }
}
