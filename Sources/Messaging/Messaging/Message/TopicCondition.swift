/// A condition over topics, such as `'a' in topics && !('b' in topics)` (spec messaging 4.4).
///
/// `&&` and `||` bind equally and from the left: `a || b && c` is `(a || b) && c`. At most five topics are named, so that what a
/// condition says fits a table of 32 bits: one for each set of topics that a device may have of those that are named.
public struct TopicCondition: Sendable, Hashable {
    /// As it was written.
    public let text: String
    /// The topics that are named, each once.
    public let topics: [String]
    /// Bit `n` says whether the condition holds for a device that has exactly the topics whose bits are set in `n`.
    let table: UInt32

    /// Nil where the text is not a condition.
    public init?(_ text: String) {
        var parser = ConditionParser(text)
        guard text.utf8.count <= Self.bytesMax, let table = parser.whole() else { return nil }
        self.text = text
        self.topics = parser.topics
        self.table = table
    }

    /// Whether it holds for a device with the topics whose bits, in the order of ``topics``, are set.
    func holds(for mask: UInt32) -> Bool { table >> (mask & 31) & 1 == 1 }

    /// Whether a device may match that has none of the named topics.
    var holdsForNone: Bool { table & 1 == 1 }

    static let bytesMax = 1024
    static let membersMax = 5
    static let depthMax = 16
}

/// Reads a condition and computes its table on the way: where every member is a column of a truth table, the operators are
/// those of bits.
struct ConditionParser {
    private let bytes: [UInt8]
    private var position = 0
    private var memberCount = 0
    private(set) var topics: [String] = []

    /// The columns of a truth table over five variables.
    private static let columns: [UInt32] = [0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The table of the whole text.
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

    /// `'name' in topics`.
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

    /// A keyword in any case, with no letter or digit behind it.
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
