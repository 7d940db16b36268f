/// The bytes of a document with the name of the file they came from. Turns an offset into a line and a column.
struct SourceText: Sendable {
    let file: String
    let bytes: [UInt8]
    /// Offsets of the first bytes of the lines.
    private let lineStarts: [Int]

    init(file: String, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        lineStarts = starts
    }

    func position(at offset: Int) -> Position {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        // A byte that continues a character of several bytes is no column of its own.
        let before = bytes[lineStarts[low]..<min(offset, bytes.count)]
        return Position(line: low + 1, column: 1 + before.count { $0 & 0xC0 != 0x80 })
    }

    func problem(at offset: Int, path: DocumentPath = DocumentPath(), _ message: String) -> Problem {
        Problem(file: file, position: position(at: offset), path: path.description, message: message)
    }

    /// The offset of the first byte that is not UTF-8, or nil.
    var firstInvalidOffset: Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        // The longest valid prefix ends where the bad sequence begins; a sequence has four bytes at most.
        var low = 0
        var high = bytes.count
        while high - low > 4 {
            let middle = (low + high) / 2
            if isValidUpToSequence(middle) { low = middle } else { high = middle }
        }
        return (low...high).last { String(validating: bytes.prefix($0), as: UTF8.self) != nil } ?? low
    }

    /// Whether the bytes before `end` are valid, a sequence cut in two by `end` not counted as bad.
    private func isValidUpToSequence(_ end: Int) -> Bool {
        (0...3).contains { cut in cut <= end && String(validating: bytes.prefix(end - cut), as: UTF8.self) != nil }
    }
}

/// The way from the top of a document to a value in it.
struct DocumentPath: Sendable, Hashable, CustomStringConvertible {
    private(set) var description = ""

    func appending(key: String) -> DocumentPath {
        let isPlain = !key.isEmpty && key.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "$")
        }
        let step = isPlain ? key : key.quoted
        return DocumentPath(description: description.isEmpty ? step : "\(description).\(step)")
    }

    func appending(index: Int) -> DocumentPath {
        DocumentPath(description: "\(description)[\(index)]")
    }

    /// Whether `other` is this place or inside it.
    func contains(_ other: String) -> Bool {
        let (outer, inner) = (description.utf8, other.utf8)
        guard !outer.isEmpty else { return true }
        guard inner.starts(with: outer) else { return false }
        let next = inner.dropFirst(outer.count).first
        return next == nil || next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
    }
}
