import HearthBytes
import FuzzSupport
import Testing
import Tree

@Suite struct LeafTests {
    private func text(_ leaf: Leaf) -> String {
        var buffer = ByteBuffer()
        leaf.write(to: &buffer)
        return buffer.string()
    }

    @Test(arguments: [
        ("true", .boolean(true)), ("false", .boolean(false)), ("0", .integer(0)), ("-7", .integer(-7)),
        ("9007199254740993", .integer(9_007_199_254_740_993)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854776000.0", .double(0x1p63)), ("-100000000000000000000.0", .double(-1e20)), ("0.1", .double(0.1)),
        ("-0", .double(-0.0)), ("1e+21", .double(1e21)),
        ("5e-324", .double(.leastNonzeroMagnitude)),
        ("\"\"", .string("")), ("\"é😀\"", .string("é😀")), ("\"a\\\"b\\\\\\n\\u0001\"", .string("a\"b\\\n\u{1}")),
        ("\"\\u0000\"", .string("\u{0}")),
    ] as [(String, Leaf)])
    func eachLeafHasOneText(_ text: String, _ leaf: Leaf) {
        #expect(self.text(leaf) == text)
        #expect(Leaf(json: Array(text.utf8).span) == leaf)
    }

    @Test(arguments: [("1.0", "1"), ("1e3", "1000"), ("-0.0", "-0"), ("0.10", "0.1"), ("1E2", "100"), ("1e17", "100000000000000000"),
    ("-0e5", "-0"), ("\"\\u0061\\/\"", "\"a/\"")])
    func otherTextsBecomeThatOne(_ text: String, _ canonical: String) {
        let leaf = Leaf(json: Array(text.utf8).span)
        #expect(leaf.map { self.text($0) } == canonical)
    }

    @Test(arguments: ["", "null", "{}", "[]", "tru", "\"a", "\"a\"\"", "01", "1e400", "-", "NaN", "\"\n\"", "\"\\", "\""])
    func otherTextsAreNoLeaves(_ text: String) {
        #expect(Leaf(json: Array(text.utf8).span) == nil)
    }

    @Test func numbersAreEqualByValue() {
        #expect(Leaf.integer(1) == .double(1) && Leaf.integer(0) == .double(-0.0))
        #expect(Leaf.integer(1) != .boolean(true) && Leaf.integer(1) != .string("1"))
        #expect(Set([Leaf.integer(1), .double(1), .integer(0), .double(-0.0)]).count == 2)
        #expect(Leaf.integer(.max) != .double(0x1p63))
        guard case .integer(3) = Leaf.number(3), case .double = Leaf.number(-0.0), case .double = Leaf.number(0x1p63) else {
            Issue.record("a number is held otherwise")
            return
        }
    }

    @Test func whatIsWrittenReadsBack() {
        var samples = Samples(random: SeededRandom(seed: 4))
        for _ in 0..<5000 {
            let leaf = samples.leaf()
            let text = text(leaf)
            let back = Leaf(json: Array(text.utf8).span)
            #expect(back == leaf && back.map { self.text($0) } == text, "\(text)")
            #expect(Node(leaf).hash() == back.map { Node($0).hash() }, "\(text)")
            if let priority = Priority(leaf) {
                var buffer = ByteBuffer()
                priority.write(to: &buffer)
                #expect(Priority(json: buffer.bytes) == priority)
            }
        }
        #expect(Priority(.boolean(true)) == nil && Priority(json: Array("true".utf8).span) == nil)
    }
}
