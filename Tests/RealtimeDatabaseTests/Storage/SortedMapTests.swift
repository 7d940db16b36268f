import FuzzSupport
import Testing

@testable import RealtimeDatabase

/// Pages that split, empty and go, with more keys than the random operations on stores have.
@Suite("Sorted maps")
struct SortedMapTests {
    @Test("thousands of keys come, go and come again, and copies stay as they were", arguments: UInt64(1)...8)
    func agreesWithADictionary(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var map = SortedMap()
        var model: [UInt16: UInt8] = [:]
        var copies: [(map: SortedMap, model: [UInt16: UInt8])] = []
        for _ in 0..<60 {
            // A run of keys near each other, or anywhere.
            let base = UInt16.random(in: .min ... .max, using: &random)
            let width = UInt16.random(in: 1...12, using: &random)
            let isRemoving = Int.random(in: 0..<5, using: &random) < 2
            for _ in 0..<Int.random(in: 1...600, using: &random) {
                let key = base &+ UInt16(truncatingIfNeeded: random.next()) >> width
                let value = UInt8(truncatingIfNeeded: random.next())
                if isRemoving {
                    let wasThere = map.delete(bytes(key))
                    #expect(wasThere == (model.removeValue(forKey: key) != nil))
                } else {
                    map.put(bytes(key), [value])
                    model[key] = value
                }
            }
            // Removing from the front removes first pages.
            if Int.random(in: 0..<6, using: &random) == 0 {
                for key in model.keys.sorted().prefix(model.count * 9 / 10) {
                    let wasThere = map.delete(bytes(key))
                    #expect(wasThere)
                    model[key] = nil
                }
            }
            if Int.random(in: 0..<6, using: &random) == 0 { copies.append((map, model)) }
        }
        copies.append((map, model))
        for copy in copies { compare(copy.map, copy.model) }
    }

    private func compare(_ map: SortedMap, _ model: [UInt16: UInt8]) {
        let expected = model.keys.sorted().map { StoreModel.Row(key: bytes($0), value: [model[$0] ?? 0]) }
        for reversed in [false, true] {
            var found: [StoreModel.Row] = []
            map.scan(from: [], to: [], reversed: reversed) { key, value in
                found.append(StoreModel.Row(key, value))
                return .next
            }
            #expect(found == (reversed ? expected.reversed() : expected))
        }
        #expect(expected.allSatisfy { map[$0.key] == $0.value })
        #expect(map.sizeBytes == 3 * model.count)
    }

    private func bytes(_ key: UInt16) -> [UInt8] { [UInt8(key >> 8), UInt8(key & 0xFF)] }
}
