public import HearthBytes
public import HearthJSON

extension Leaf {
    /// Appends the leaf's one JSON text: what rows hold and what answers copy.
    public func write(to buffer: inout ByteBuffer) {
        switch self {
        case .boolean(let value): buffer.append(value ? "true" : "false")
        case .integer(let value): buffer.append(decimal: Int(value))
        case .double(let value):
            if value == 0 { buffer.append(value.sign == .minus ? "-0" : "0") } else { buffer.append(jsonNumber: value) }
        case .string(let text): buffer.append(jsonString: text)
        }
    }

    /// Reads a leaf that `write(to:)` wrote, or any other JSON text of a boolean, a number or a string; nil for anything else.
    public init?(json: Span<UInt8>) {
        guard json.count > 0 else { return nil }
        let leaf = json.withUnsafeBufferPointer { Self.quick($0) } ?? (try? JSONValue(parsing: json)).flatMap { Leaf($0) }
        guard let leaf else { return nil }
        self = leaf
    }

    /// Takes the value when it is a boolean, a number or a string.
    public init?(_ value: JSONValue) {
        switch value {
        case .bool(let value): self = .boolean(value)
        case .int(let value): self = .integer(value)
        case .uint(let value): self = .double(Double(value))
        case .double(let value):
            guard value.isFinite else { return nil }
            self = .number(value)
        case .string(let text): self = .string(text)
        default: return nil
        }
    }

    /// The value as JSON has it; numbers stay whole or doubles as they are.
    public var json: JSONValue {
        switch self {
        case .boolean(let value): .bool(value)
        case .integer(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let text): .string(text)
        }
    }

    /// The common forms: whole numbers of up to 18 digits, strings without escapes, booleans.
    private static func quick(_ text: UnsafeBufferPointer<UInt8>) -> Leaf? {
        switch text[0] {
        case UInt8(ascii: "\""):
            guard text.count >= 2, text[text.count - 1] == UInt8(ascii: "\"") else { return nil }
            let inner = UnsafeBufferPointer(rebasing: text[1..<text.count - 1])
            for byte in inner where byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte < 0x20 { return nil }
            return UTF8Text.string(inner).map { .string($0) }
        case UInt8(ascii: "t"): return text.elementsEqual("true".utf8) ? .boolean(true) : nil
        case UInt8(ascii: "f"): return text.elementsEqual("false".utf8) ? .boolean(false) : nil
        default: return ShortInteger.value(text).map { .integer($0) }
        }
    }
}

/// Whole numbers of up to 18 digits, which cannot overflow.
enum ShortInteger {
    /// The number that `text` is; nil when it is another number, `-0`, or none.
    @inline(__always)
    static func value(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard let base = text.baseAddress, text.count > 0 else { return nil }
        let isNegative = base[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        let digits = text.count - start
        guard digits > 0, digits <= 18, digits == 1 || base[start] != UInt8(ascii: "0") else { return nil }
        var magnitude: Int64 = 0
        var index = start
        while index < text.count {
            let digit = base[index] &- UInt8(ascii: "0")
            if digit > 9 { return nil }
            magnitude = magnitude &* 10 &+ Int64(digit)
            index += 1
        }
        if isNegative, magnitude == 0 { return nil }
        return isNegative ? -magnitude : magnitude
    }
}
