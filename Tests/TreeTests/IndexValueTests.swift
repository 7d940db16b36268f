import FuzzSupport
import Testing
import Tree

@Suite struct IndexValueTests {
    private func bytes(_ value: IndexValue) -> [UInt8] {
        var bytes: [UInt8] = []
        value.encode(into: &bytes)
        return bytes
    }

    private static let inOrder: [IndexValue] = [
        .null, .false, .true, .number(-.greatestFiniteMagnitude), .number(-1.5), .number(-1), .number(-.leastNonzeroMagnitude),
        .number(0), .number(.leastNonzeroMagnitude), .number(1),
        .number(1.5), .number(2), .number(10), .number(0x1p63), .string(""), .string("\u{0}"), .string("\u{0}\u{0}"),
        .string("\u{0}\u{1}"), .string("\u{0}a"),
        .string("\u{1}"), .string("\u{1}\u{0}"), .string("\u{1}\u{1}"), .string("\u{2}"), .string("10"), .string("9"), .string("A"),
        .string("a"), .string("a\u{0}"),
        .string("aa"), .string("é"), .string("\u{D7FF}"), .string("😀"), .string("\u{E000}"), .string("\u{FFFF}"), .object,
    ]

    @Test func valuesAreOrdered() {
        for (index, value) in Self.inOrder.enumerated() {
            #expect(value == value && bytes(value) == bytes(value))
            for later in Self.inOrder[(index + 1)...] {
                #expect(value < later && !(later < value) && value != later, "\(value) \(later)")
                #expect(bytes(value).lexicographicallyPrecedes(bytes(later)), "\(value) \(later)")
            }
        }
    }

    @Test func bytesOrderAsValuesDo() {
        var samples = Samples(random: SeededRandom(seed: 7))
        for _ in 0..<5000 {
            let left = IndexValue(samples.leaf())
            let right = IndexValue(samples.leaf())
            #expect((left < right) == bytes(left).lexicographicallyPrecedes(bytes(right)), "\(left) \(right)")
            #expect((left == right) == (bytes(left) == bytes(right)), "\(left) \(right)")
            let both = bytes(left) + bytes(right)
            #expect(IndexValue.encodedEnd(both.span, from: 0) == bytes(left).count)
            #expect(IndexValue.encodedEnd(both.span, from: bytes(left).count) == both.count)
            let cut = Array(bytes(left).dropLast())
            #expect(IndexValue.encodedEnd(cut.span, from: 0) == nil)
        }
    }

    @Test func bothZerosAreOne() {
        #expect(IndexValue.number(0) == .number(-0.0) && bytes(.number(0)) == bytes(.number(-0.0)))
        #expect(Set([IndexValue.number(0), .number(-0.0)]).count == 1)
    }

    @Test func nodesHaveTheirValue() throws {
        let object = try Node.reading("{\"a\":1}")
        #expect(IndexValue(Node.empty) == .null && IndexValue(object) == .object)
        #expect(IndexValue(Node(.integer(3))) == .number(3) && IndexValue(Node(.boolean(false))) == .false)
        #expect(IndexValue(nil as Priority?) == .null && IndexValue(.string("p")) == .string("p"))
    }
}
