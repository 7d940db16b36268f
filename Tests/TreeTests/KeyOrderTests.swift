import FuzzSupport
import Testing
import Tree

@Suite struct KeyOrderTests {
    /// The order as the specification says it (database 1.4), without a thought for speed.
    static func reference(_ left: String, _ right: String) -> Int {
        switch (integer(left), integer(right)) {
        case (let one?, let other?):
            if one != other { return one < other ? -1 : 1 }
            if left.utf8.count != right.utf8.count { return left.utf8.count - right.utf8.count }
            // The specification leaves open which of `00` and `-0` comes first; here it is the one without a sign.
            return left.hasPrefix("-") == right.hasPrefix("-") ? 0 : left.hasPrefix("-") ? 1 : -1
        case (_?, nil): return -1
        case (nil, _?): return 1
        case (nil, nil):
            let one = Array(left.utf16)
            let other = Array(right.utf16)
            return one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
        }
    }

    static func integer(_ key: String) -> Int? {
        guard key.wholeMatch(of: /-?0*[0-9]{1,10}/) != nil, key.utf8.count == key.count else { return nil }
        guard let value = Int(key), Int(Int32.min)...Int(Int32.max) ~= value else { return nil }
        return value
    }

    @Test(arguments: [
        ["-2147483648", "-5", "-1", "0", "00", "-0", "000", "1", "01", "2", "9", "10", "2147483647", "-", "2147483648", "a", "b"],
        ["A", "Z", "_", "a", "aa", "ab", "é", "\u{D7FF}", "\u{10000}", "😀", "\u{10FFFF}", "\u{E000}", "\u{FFFD}", "\u{FFFF}"],
        ["12", "1a", "a1"],
    ])
    func keysAreOrdered(_ keys: [String]) {
        for (index, key) in keys.enumerated() {
            #expect(KeyOrder.compare(key, key) == 0)
            for later in keys[(index + 1)...] {
                #expect(KeyOrder.precedes(key, later) && !KeyOrder.precedes(later, key), "\(key) \(later)")
                #expect(PathKey.root.appending(key) < PathKey.root.appending(later), "\(key) \(later)")
            }
        }
    }

    @Test func theOrderIsThatOfTheSpecification() {
        var samples = Samples(random: SeededRandom(seed: 1))
        let keys = Samples.awkwardKeys + (0..<60).map { _ in samples.key() }
        for left in keys {
            let row = PathKey.root.appending(left)
            for right in keys {
                let expected = Self.reference(left, right).signum()
                #expect(KeyOrder.compare(left, right).signum() == expected, "\(left) \(right)")
                #expect(KeyOrder.areEqual(left, right) == (expected == 0), "\(left) \(right)")
                let other = PathKey.root.appending(right)
                #expect((row < other) == (expected < 0) && (row == other) == (expected == 0), "\(left) \(right)")
            }
        }
    }

    @Test func composedAndDecomposedLettersAreTwoKeys() {
        #expect("é" == "e\u{301}")
        #expect(!KeyOrder.areEqual("é", "e\u{301}"))
        #expect(Path(["é"]) != Path(["e\u{301}"]))
        #expect(Leaf.string("é") != Leaf.string("e\u{301}"))
    }
}
