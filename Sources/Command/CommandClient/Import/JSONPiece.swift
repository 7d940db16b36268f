import HearthJSON
import HearthBytes

/// A value of a large text, with its location.
public struct JSONPiece: Sendable, Hashable {
    /// The location from the root of the text: keys in their JSON form, joined by `/`. Empty for the root.
    public var path: [UInt8]
    /// The JSON text of the value.
    public var value: [UInt8]
    /// The offset after the value.
    public var end: Int

    /// A value whose text ends before byte `end`.
    public init(path: [UInt8], value: [UInt8], end: Int) {
        self.path = path
        self.value = value
        self.end = end
    }
}

/// An error in a text to import, with its position.
public struct JSONSplitError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// The byte of the line, from 1.
    public let column: Int
    /// The error, without its position and without a full stop.
    public let message: String

    /// The position and the error.
    public var description: String { "\(line):\(column): \(message)" }
}

/// The limits for splitting.
public struct JSONSplitLimits: Sendable, Hashable {
    /// A value with a longer text is split into its members.
    public var valueBytesMax: Int
    /// The most keys on a path.
    public var depthMax: Int
    /// The most bytes of a string in UTF-8.
    public var stringBytesMax: Int
    /// The most bytes of a key in UTF-8.
    public var keyBytesMax: Int

    /// The database's limits, and pieces of 64 KiB.
    public init(valueBytesMax: Int = 64 * 1024, depthMax: Int = 32, stringBytesMax: Int = 10 * 1024 * 1024, keyBytesMax: Int = 768) {
        self.valueBytesMax = max(1, valueBytesMax)
        self.depthMax = depthMax
        self.stringBytesMax = stringBytesMax
        self.keyBytesMax = keyBytesMax
    }
}

extension JSONPiece {
    /// The keys of the path, with JSON escapes resolved.
    public var keys: [String] {
        guard !path.isEmpty else { return [] }
        return path.split(separator: UInt8(ascii: "/")).map { key in
            let quoted = [UInt8(ascii: "\"")] + key + [UInt8(ascii: "\"")]
            return (try? JSONValue(parsing: quoted))?.string ?? String(decoding: key, as: UTF8.self)
        }
    }
}

extension JSONSplitter {
    /// The greatest ratio of a string's text to its content: `\u0000` is one byte.
    private static let escapeRatio = 6
    private static let numberBytesMax = 4096

    /// Scans a string whose opening quote is at `position`, possibly over several pieces of text.
    ///
    /// - Returns: its range with both quotes; nil if its end has not arrived.
    mutating func scanString() throws(JSONSplitError) -> (text: Range<Int>, isPlain: Bool)? {
        var state = unfinishedString ?? UnfinishedString(start: position, position: position + 1, isPlain: true)
        let end = window.withUnsafeBytes { bytes -> Int? in
            var index = state.position - windowStart
            while index < bytes.count {
                let byte = bytes[index]
                if byte == UInt8(ascii: "\"") { return windowStart + index }
                if byte < 0x20 { break }
                if byte == UInt8(ascii: "\\") {
                    state.isPlain = false
                    if index + 1 >= bytes.count { break }
                    index += 1
                }
                if byte >= 0x80 { state.isPlain = false }
                index += 1
            }
            state.position = windowStart + index
            return nil
        }
        guard let end else {
            if state.position < windowEnd, byte(at: state.position) < 0x20 {
                throw error("a control character in a string must be escaped", at: state.position)
            }
            guard state.position - state.start <= limits.stringBytesMax * Self.escapeRatio + 2 else {
                throw error("a string is longer than \(limits.stringBytesMax) bytes", at: state.start)
            }
            unfinishedString = state
            return nil
        }
        unfinishedString = nil
        let range = state.start..<(end + 1)
        if !state.isPlain { try validate(range) }
        return (range, state.isPlain)
    }

    /// Scans a number or a word.
    ///
    /// - Returns: its range; nil if more of it may follow.
    mutating func scanWord() throws(JSONSplitError) -> Range<Int>? {
        var end = position
        scan: while end < windowEnd {
            switch byte(at: end) {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
                UInt8(ascii: "\t"), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "{"):
                break scan
            default: end += 1
            }
            guard end - position <= Self.numberBytesMax else { throw error("this is not a value") }
        }
        if end == windowEnd, !isFinished { return nil }
        guard end > position else { throw error("a value is missing here") }
        try validate(position..<end)
        return position..<end
    }

    /// Validates one token with the JSON parser.
    private func validate(_ range: Range<Int>) throws(JSONSplitError) {
        do throws(JSONError) {
            _ = try JSONScan.validate(window.bytes.extracting((range.lowerBound - windowStart)..<(range.upperBound - windowStart)))
        } catch {
            // For a string, report the position within it; a word is wrong as a whole.
            let isString = byte(at: range.lowerBound) == UInt8(ascii: "\"")
            throw self.error(Self.phrase(error), at: isString ? range.lowerBound + error.offset : range.lowerBound)
        }
    }

    private static func phrase(_ error: JSONError) -> String {
        switch error.kind {
        case .unexpectedByte, .trailingBytes, .unexpectedEnd: "not a valid value"
        case .invalidNumber: "not a valid number"
        case .numberOutOfRange: "the number is out of range"
        case .invalidEscape: "unknown escape sequence in a string"
        case .controlCharacter: "a control character in a string must be escaped"
        case .invalidUTF8: "the bytes are not UTF-8"
        case .tooDeep, .tooLong: "the value is too long"
        }
    }

    /// The content of a string, with escapes resolved; `range` includes the quotes.
    func content(_ range: Range<Int>, isPlain: Bool) -> [UInt8] {
        if isPlain { return text((range.lowerBound + 1)..<(range.upperBound - 1)) }
        guard let value = try? JSONValue(parsing: text(range)), let string = value.string else { return [] }
        return Array(string.utf8)
    }
}
