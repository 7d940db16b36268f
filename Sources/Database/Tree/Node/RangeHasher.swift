import HearthBytes

/// Computes the hash of a part of a node, as clients with a large copy of it do (V2, spec database 3.8).
///
/// The text that is hashed nests the keys of the part's leaves: `("a":("b":(number:3ff0000000000000)),"c":(string:"x"))`. The caller begins and
/// ends children. Only a few kilobytes and the present leaf are in memory.
public struct RangeHasher: ~Copyable {
    private var text = HashedText()
    private var depth = 0
    private var needsComma = false
    /// Whether nothing has been added.
    public private(set) var isEmpty = true

    public init() {}

    /// Begins the child with this key in UTF-8.
    public mutating func begin(_ key: Span<UInt8>) {
        start()
        if needsComma { text.pending.append(UInt8(ascii: ",")) }
        Self.append(quoted: key, to: &text.pending)
        text.pending.append(":(")
        needsComma = false
        depth += 1
    }

    /// Ends the child that was begun last.
    public mutating func end() {
        text.pending.append(UInt8(ascii: ")"))
        needsComma = true
        depth -= 1
        text.flushIfLong()
    }

    /// Adds the value of the child that was begun last; without one, of the node itself.
    public mutating func add(_ leaf: Leaf, priority: Priority?) {
        start()
        if let priority {
            text.pending.append("priority:")
            Self.append(priority.leaf, to: &text.pending)
            text.pending.append(UInt8(ascii: ":"))
        }
        Self.append(leaf, to: &text.pending)
        needsComma = true
    }

    /// The hash of everything that was added; nil if there is nothing. The next part can begin.
    public mutating func finish() -> NodeHash? {
        guard !isEmpty else { return nil }
        while depth > 0 { end() }
        text.pending.append(UInt8(ascii: ")"))
        isEmpty = true
        needsComma = false
        return text.finish()
    }

    private mutating func start() {
        guard isEmpty else { return }
        isEmpty = false
        text.pending.append(UInt8(ascii: "("))
    }

    private static func append(_ leaf: Leaf, to text: inout ByteBuffer) {
        switch leaf {
        case .boolean(let value): text.append(value ? "boolean:true" : "boolean:false")
        case .integer(let value): NodeHash.append(number: Double(value), to: &text)
        case .double(let value): NodeHash.append(number: value, to: &text)
        case .string(let string):
            text.append("string:")
            var string = string
            string.withUTF8 { append(quoted: $0.span, to: &text) }
        }
    }

    private static func append(quoted text: Span<UInt8>, to buffer: inout ByteBuffer) {
        buffer.append(UInt8(ascii: "\""))
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") { buffer.append(UInt8(ascii: "\\")) }
            buffer.append(byte)
        }
        buffer.append(UInt8(ascii: "\""))
    }
}
