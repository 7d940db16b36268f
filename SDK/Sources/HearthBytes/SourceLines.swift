/// A text that errors point into: turns the offset of a byte into a line and a column.
public struct SourceLines: Sendable {
    /// The text, which need not be UTF-8.
    public let bytes: [UInt8]
    /// Offsets of the first bytes of the lines.
    private let starts: [Int]

    /// Finds the beginnings of the lines; a line ends with a line feed.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        self.starts = starts
    }

    /// Where the byte at `offset` stands: the line, and the column in characters (Unicode scalars), both from 1. An offset beyond
    /// the end means the end.
    public func position(at offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        // A byte that continues a character of several bytes is no column of its own.
        let before = bytes[starts[low]..<max(starts[low], min(offset, bytes.count))]
        return (low + 1, 1 + before.count { $0 & 0xC0 != 0x80 })
    }

    /// The offset of the first byte that is not UTF-8, or nil.
    public var firstInvalidOffset: Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}
