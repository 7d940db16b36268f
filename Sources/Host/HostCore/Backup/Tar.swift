/// The format of archives: POSIX tar, with extended headers for long names and numbers.
enum Tar {
    static let blockBytes = 512
    /// The end of an archive.
    static let end = [UInt8](repeating: 0, count: 2 * blockBytes)

    /// The blocks before a member's content.
    static func header(name: String, sizeBytes: Int, time: Int64) -> [UInt8] {
        let bytes = Array(name.utf8)
        guard bytes.count > 100 || sizeBytes >= 1 << 33 else { return block(bytes, sizeBytes, time, kind: "0") }
        let records = record("path", name) + record("size", "\(sizeBytes)")
        let extended = block(Array("extended".utf8), records.count, time, kind: "x") + records + padding(after: records.count)
        return extended + block(Array(bytes.prefix(100)), min(sizeBytes, 1 << 33 - 1), time, kind: "0")
    }

    /// The bytes that fill the last block of a member.
    static func padding(after sizeBytes: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: (blockBytes - sizeBytes % blockBytes) % blockBytes)
    }

    /// A record `LENGTH NAME=VALUE`, whose length includes its own digits.
    private static func record(_ name: String, _ value: String) -> [UInt8] {
        let rest = " \(name)=\(value)\n"
        var length = rest.utf8.count + 1
        while "\(length)".utf8.count + rest.utf8.count != length { length = "\(length)".utf8.count + rest.utf8.count }
        return Array("\(length)\(rest)".utf8)
    }

    private static func block(_ name: [UInt8], _ sizeBytes: Int, _ time: Int64, kind: Character) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockBytes)
        func put(_ bytes: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
        }
        func octal(_ value: Int64, _ width: Int) -> [UInt8] {
            let digits = String(value, radix: 8)
            return Array((String(repeating: "0", count: max(0, width - 1 - digits.count)) + digits).utf8)
        }
        put(name, at: 0)
        put(octal(0o600, 8), at: 100)
        put(octal(0, 8), at: 108)
        put(octal(0, 8), at: 116)
        put(octal(Int64(sizeBytes), 12), at: 124)
        put(octal(time, 12), at: 136)
        put(Array("        ".utf8), at: 148)
        put(kind.utf8, at: 156)
        put(Array("ustar\u{0}00".utf8), at: 257)
        let sum = block.reduce(0) { $0 + Int64($1) }
        put(octal(sum, 7) + [0], at: 148)
        return block
    }
}

/// Parses an archive piece by piece.
struct TarReader {
    /// A parsed part of an archive.
    enum Event {
        /// The start of a member.
        case member(name: String, sizeBytes: Int)
        /// A part of its content: a range of the bytes passed to `read`.
        case bytes(Range<Int>)
        /// The end of a member.
        case memberEnd
        /// The end of the archive.
        case end
    }

    private var pending: [UInt8] = []
    /// The remaining bytes of the current member or extended header, and then of its padding.
    private var left = 0
    private var padding = 0
    private var isExtended = false
    private var extended: [UInt8] = []
    private var longName: String?
    private var longSize: Int?
    private var emptyBlocks = 0
    private(set) var isComplete = false

    /// The size limit of an extended header.
    private static let extendedBytesMax = 16 * 1024

    /// - Parameter body: called with each event.
    mutating func read(_ bytes: [UInt8], _ body: (Event) throws(BackupFailure) -> Void) throws(BackupFailure) {
        var index = 0
        while index < bytes.count {
            if isComplete { return }
            if left > 0 {
                let count = min(left, bytes.count - index)
                if isExtended { extended += bytes[index..<(index + count)] } else { try body(.bytes(index..<(index + count))) }
                left -= count
                index += count
                if left == 0 { try endMember(body) }
            } else if padding > 0 {
                let count = min(padding, bytes.count - index)
                padding -= count
                index += count
            } else {
                let count = min(Tar.blockBytes - pending.count, bytes.count - index)
                pending += bytes[index..<(index + count)]
                index += count
                guard pending.count == Tar.blockBytes else { return }
                let block = pending
                pending = []
                try begin(block, body)
            }
        }
    }

    private mutating func endMember(_ body: (Event) throws(BackupFailure) -> Void) throws(BackupFailure) {
        if isExtended { try readExtended() } else { try body(.memberEnd) }
    }

    private mutating func begin(_ block: [UInt8], _ body: (Event) throws(BackupFailure) -> Void) throws(BackupFailure) {
        if block.allSatisfy({ $0 == 0 }) {
            emptyBlocks += 1
            guard emptyBlocks == 2 else { return }
            isComplete = true
            return try body(.end)
        }
        var unsigned = 0
        for (index, byte) in block.enumerated() { unsigned += (148..<156).contains(index) ? 32 : Int(byte) }
        guard emptyBlocks == 0, Self.octal(block[148..<156]) == unsigned else { throw Self.damaged }
        guard let sizeBytes = longSize ?? Self.octal(block[124..<136]), sizeBytes >= 0 else { throw Self.damaged }
        isExtended = block[156] == UInt8(ascii: "x")
        left = sizeBytes
        padding = Tar.padding(after: sizeBytes).count
        if isExtended {
            guard sizeBytes <= Self.extendedBytesMax else { throw Self.damaged }
            extended = []
            if sizeBytes == 0 { try readExtended() }
            return
        }
        guard block[156] == UInt8(ascii: "0") || block[156] == 0 else { throw Self.damaged }
        let name = longName ?? String(decoding: block[..<100].prefix { $0 != 0 }, as: UTF8.self)
        longName = nil
        longSize = nil
        try body(.member(name: name, sizeBytes: sizeBytes))
        if sizeBytes == 0 { try body(.memberEnd) }
    }

    private mutating func readExtended() throws(BackupFailure) {
        isExtended = false
        var rest = extended[...]
        extended = []
        while !rest.isEmpty {
            guard let space = rest.firstIndex(of: UInt8(ascii: " ")), let length = Int(String(decoding: rest[..<space], as: UTF8.self)),
                length > space - rest.startIndex + 1, length <= rest.count, let equals = rest[space...].firstIndex(of: UInt8(ascii: "="))
            else { throw Self.damaged }
            let end = rest.startIndex + length
            guard equals < end - 1 else { throw Self.damaged }
            let value = String(decoding: rest[(equals + 1)..<(end - 1)], as: UTF8.self)
            switch String(decoding: rest[(space + 1)..<equals], as: UTF8.self) {
            case "path": longName = value
            case "size": longSize = Int(value)
            default: break
            }
            rest = rest[end...]
        }
    }

    private static func octal(_ field: ArraySlice<UInt8>) -> Int? {
        let digits = field.drop { $0 == 32 }.prefix { (48...55).contains($0) }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 << 3 | Int($1 - 48) }
    }

    private static let damaged = BackupFailure("the backup is damaged, or is not a backup of Hearth")
}
