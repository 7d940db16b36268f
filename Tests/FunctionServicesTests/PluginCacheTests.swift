import Testing

@testable import FunctionServices

/// The values of one plugin: order of use, bounds, times.
@Suite struct PluginCacheTests {
    private let value = [UInt8](repeating: 0x31, count: 100)

    /// The bytes of an entry with a key of one byte.
    private var entryBytes: Int { PluginCache.overheadBytes + 101 }

    @Test func theLeastRecentlyUsedGoesFirst() {
        var cache = PluginCache(bytesMax: 3 * entryBytes)
        for key in ["a", "b", "c"] { cache.set(key, value, end: .max) }
        #expect(cache.get("a", now: 0) != nil)
        cache.set("d", value, end: .max)
        #expect(cache.get("b", now: 0) == nil)
        #expect(["a", "c", "d"].allSatisfy { cache.get($0, now: 0) == value })
        #expect(cache.figures == CacheFigures(entries: 3, bytes: 3 * entryBytes, hits: 4, misses: 1, evictions: 1, expirations: 0))
    }

    @Test func aLargeValueTakesThePlaceOfSeveral() {
        var cache = PluginCache(bytesMax: 3 * entryBytes)
        for key in ["a", "b", "c"] { cache.set(key, value, end: .max) }
        let large = [UInt8](repeating: 0x31, count: 100 + 2 * entryBytes)
        #expect(cache.fits("d", large))
        #expect(!cache.fits("dd", large))
        cache.set("d", large, end: .max)
        #expect(cache.figures.entries == 1 && cache.figures.bytes == 3 * entryBytes)
        #expect(cache.get("d", now: 0) == large)
    }

    @Test func aReplacedValueCountsOnce() {
        var cache = PluginCache(bytesMax: 3 * entryBytes)
        for _ in 0..<10 { cache.set("a", value, end: .max) }
        #expect(cache.figures.entries == 1 && cache.figures.bytes == entryBytes && cache.figures.evictions == 0)
    }

    @Test func valuesEnd() {
        var cache = PluginCache(bytesMax: 100 * entryBytes)
        cache.set("a", value, end: 10)
        #expect(cache.get("a", now: 9) == value)
        #expect(cache.get("a", now: 10) == nil)
        #expect(cache.isEmpty && cache.figures.expirations == 1 && cache.figures.bytes == 0)
    }

    @Test func sweepingFindsEveryEndedValue() {
        var cache = PluginCache(bytesMax: 1000 * entryBytes)
        for number in 0..<100 { cache.set("\(number)", value, end: number % 2 == 0 ? 10 : .max) }
        for _ in 0..<10 { cache.sweep(10, now: 20) }
        #expect(cache.figures.entries == 50 && cache.figures.expirations == 50)
        cache.sweep(1000, now: 20)
        #expect(cache.figures.entries == 50)
    }

    @Test func manyValuesAreReleased() {
        var cache: PluginCache? = PluginCache(bytesMax: .max)
        for number in 0..<300_000 { cache?.set("\(number)", [1], end: .max) }
        cache = nil
        #expect(cache == nil)
    }

    /// Compares random steps with a plain model.
    @Test func randomSteps() {
        var cache = PluginCache(bytesMax: 5 * entryBytes)
        var order: [String] = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let key = String(UnicodeScalar(UInt8.random(in: 97...105, using: &random)))
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                cache.set(key, value, end: .max)
                order.removeAll { $0 == key }
                order.append(key)
                if order.count > 5 { order.removeFirst() }
            case 1:
                #expect((cache.get(key, now: 0) != nil) == order.contains(key))
                if order.contains(key) {
                    order.removeAll { $0 == key }
                    order.append(key)
                }
            default:
                #expect(cache.delete(key, now: 0) == order.contains(key))
                order.removeAll { $0 == key }
            }
            #expect(cache.figures.entries == order.count)
        }
    }
}
