import FuzzSupport
import Store
import Testing

@testable import RealtimeDatabase

/// Cases that the random operations do not reach.
@Suite("Stores")
struct StoreLawTests {
    @Test("a scan may delete and add rows where it is", arguments: EngineUnderTest.allCases)
    func writesWhileScanning(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let store = try engine.openWriter(namespace: "a")
            let keys = (UInt8(0)..<250).map { [$0, 7] }
            try store.begin()
            for key in keys { try store.put(key, [1]) }
            for reversed in [false, true] {
                var seen: [[UInt8]] = []
                try store.scan(.tree, from: [], to: [], reversed: reversed) { key, value in
                    let key = key.withUnsafeBufferPointer { [UInt8]($0) }
                    guard value.count == 1 else { return .next }
                    seen.append(key)
                    do throws(StoreError) {
                        try store.delete(key, in: .tree)
                        try store.put(key, [1])
                        try store.put([key[0], 6], [1, 2])
                        try store.put(key, [1], in: .index)
                    } catch {
                        return .stop
                    }
                    return .next
                }
                #expect(seen == (reversed ? keys.reversed() : keys))
            }
            try store.commit()
            #expect(try store.rows().count == 500)
        }
    }

    @Test("empty keys and values are keys and values", arguments: EngineUnderTest.allCases)
    func keepsEmptyBytes(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let store = try engine.openWriter(namespace: "a")
            try store.write { () throws(StoreError) in try store.put([], []) }
            #expect(try store.value([]) == [])
            #expect(try store.rows() == [StoreModel.Row(key: [], value: [])])
            try store.begin()
            #expect(try store.delete([], in: .tree))
            try store.commit()
            #expect(try store.value([]) == nil)
        }
    }

    @Test("large values come back whole", arguments: EngineUnderTest.allCases)
    func keepsLargeValues(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let store = try engine.openWriter(namespace: "a")
            var random = SeededRandom(seed: 1)
            let value = (0..<12 << 20).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            try store.write { () throws(StoreError) in try store.put([1], value) }
            #expect(try engine.openReader(namespace: "a").value([1]) == value)
            #expect(store.sizeBytes > 12 << 20)
        }
    }

    @Test("nothing is written outside of a transaction, and there is one at a time", arguments: EngineUnderTest.allCases)
    func needsTransactions(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let store = try engine.openWriter(namespace: "a")
            #expect(throws: StoreError.self) { try store.put([1], [1]) }
            #expect(throws: StoreError.self) { try store.delete([1], in: .tree) }
            #expect(throws: StoreError.self) { try store.deleteRange([], [], in: .tree, limit: nil) }
            #expect(throws: StoreError.self) { try store.commit() }
            try store.begin()
            #expect(throws: StoreError.self) { try store.begin() }
            try store.put([1], [1])
            try store.commit()
            #expect(try store.value([1]) == [1])
        }
    }

    @Test("namespaces do not see each other", arguments: EngineUnderTest.allCases)
    func separatesNamespaces(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let (a, b) = (try engine.openWriter(namespace: "a"), try engine.openWriter(namespace: "b"))
            try a.begin()
            try b.begin()
            try a.put([1], [1])
            try b.put([1], [2])
            try a.commit()
            try b.commit()
            #expect(try a.value([1]) == [1])
            #expect(try b.value([1]) == [2])
        }
    }
}
