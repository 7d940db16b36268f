/// A condition on topics, such as `'a' in topics && !('b' in topics)` (spec messaging 4.4).
///
/// `&&` and `||` have equal precedence and associate to the left: `a || b && c` is `(a || b) && c`. A condition has at most five topics, so its
/// truth table fits into 32 bits: one for each subset of these topics.
public struct TopicCondition: Sendable, Hashable {
    /// The original text.
    public let text: String
    /// The topics in the condition, without duplicates.
    public let topics: [String]
    /// Bit `n` is the value of the condition for a device that has exactly the topics whose bits are set in `n`.
    let table: UInt32

    /// Parses a condition; nil if the text is invalid.
    public init?(_ text: String) {
        var parser = ConditionParser(text)
        guard text.utf8.count <= Self.bytesMax, let table = parser.whole() else { return nil }
        self.text = text
        self.topics = parser.topics
        self.table = table
    }

    /// The value for a device with the topics whose bits are set, in the order of ``topics``.
    func holds(for mask: UInt32) -> Bool { table >> (mask & 31) & 1 == 1 }

    /// Whether the condition holds for devices without any of its topics.
    var holdsForNone: Bool { table & 1 == 1 }

    static let bytesMax = 1024
    static let membersMax = 5
    static let depthMax = 16
}

/// Parses a condition and computes its truth table at the same time: each topic is a column of the table, and the operators are bit
/// operations on columns.
struct ConditionParser {
    private let bytes: [UInt8]
    private var position = 0
    private var memberCount = 0
    private(set) var topics: [String] = []

    /// The columns of a truth table for five variables.
    private static let columns: [UInt32] = [0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Parses the whole text and returns its table.
    mutating func whole() -> UInt32? {
        guard let table = condition(depth: 0) else { return nil }
        skipBlanks()
        return position == bytes.count ? table : nil
    }

    private mutating func condition(depth: Int) -> UInt32? {
        guard depth <= TopicCondition.depthMax, var table = term(depth) else { return nil }
        while true {
            skipBlanks()
            if take("&&") {
                guard let right = term(depth) else { return nil }
                table &= right
            } else if take("||") {
                guard let right = term(depth) else { return nil }
                table |= right
            } else {
                return table
            }
        }
    }

    private mutating func term(_ depth: Int) -> UInt32? {
        skipBlanks()
        var isNegated = false
        while take("!") {
            isNegated.toggle()
            skipBlanks()
        }
        let table: UInt32?
        if take("(") {
            table = condition(depth: depth + 1)
            skipBlanks()
            guard take(")") else { return nil }
        } else {
            table = member()
        }
        return table.map { isNegated ? ~$0 : $0 }
    }

    /// Parses `'name' in topics`.
    private mutating func member() -> UInt32? {
        guard take("'") else { return nil }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "'") { position += 1 }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        guard take("'"), !name.hasPrefix(TopicName.prefix), TopicName(name) != nil, skipBlanks() > 0, takeWord("in"), skipBlanks() > 0,
            takeWord("topics")
        else { return nil }
        memberCount += 1
        guard memberCount <= TopicCondition.membersMax else { return nil }
        let index = topics.firstIndex(of: name) ?? topics.count
        if index == topics.count { topics.append(name) }
        return Self.columns[index]
    }

    @discardableResult
    private mutating func skipBlanks() -> Int {
        let start = position
        while position < bytes.count, bytes[position] == 0x20 || (0x09...0x0D).contains(bytes[position]) { position += 1 }
        return position - start
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        for index in 0..<count where bytes[position + index] != text.utf8Start[index] { return false }
        position += count
        return true
    }

    /// Parses a keyword, case-insensitively, that is not followed by a letter or digit.
    private mutating func takeWord(_ lowercase: StaticString) -> Bool {
        let count = lowercase.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        for index in 0..<count where bytes[position + index] | 0x20 != lowercase.utf8Start[index] { return false }
        let end = position + count
        guard end == bytes.count || !TopicName.isAllowed(bytes[end]) else { return false }
        position = end
        return true
    }
}
