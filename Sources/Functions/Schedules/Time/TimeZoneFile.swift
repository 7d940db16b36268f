import HearthBytes

/// Reads a compiled time zone: the format of RFC 9636, which the package `tzdata` installs.
struct TimeZoneFile: ~Escapable {
    private let bytes: Span<UInt8>

    private static let headBytes = 44
    private static let changesMax = 10_000

    /// The sizes of the parts of a data block.
    private struct Head {
        var version: UInt8
        var universalCount, standardCount, leapCount, changeCount, typeCount, letterCount: Int

        /// The size of the block.
        ///
        /// - Parameter timeBytes: the size of a time: 4 in the first block, 8 in the second.
        func blockBytes(_ timeBytes: Int) -> Int {
            changeCount * (timeBytes + 1) + typeCount * 6 + letterCount + leapCount * (timeBytes + 4) + standardCount + universalCount
        }
    }

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    /// The time zone; nil if the file is damaged.
    func zone(named name: String) -> ScheduleTimeZone? {
        guard let first = head(at: 0) else { return nil }
        guard first.version >= UInt8(ascii: "2") else { return block(first, at: Self.headBytes, timeBytes: 4, rule: nil, name) }
        let second = Self.headBytes + first.blockBytes(4)
        guard let head = head(at: second) else { return nil }
        let start = second + Self.headBytes
        let (footer, isValid) = rule(at: start + head.blockBytes(8))
        return isValid ? block(head, at: start, timeBytes: 8, rule: footer, name) : nil
    }

    private func head(at offset: Int) -> Head? {
        guard offset >= 0, offset + Self.headBytes <= bytes.count, bytes.extracting(offset..<(offset + 4)).equals("TZif") else { return nil }
        let counts = (0..<6).map { Int(unsigned(at: offset + 20 + 4 * $0)) }
        guard counts.allSatisfy({ $0 <= Self.changesMax }), counts[4] > 0, counts[4] <= 256 else { return nil }
        return Head(
            version: bytes[offset + 4], universalCount: counts[0], standardCount: counts[1], leapCount: counts[2], changeCount: counts[3],
            typeCount: counts[4], letterCount: counts[5])
    }

    private func block(_ head: Head, at start: Int, timeBytes: Int, rule: TimeZoneRule?, _ name: String) -> ScheduleTimeZone? {
        guard start + head.blockBytes(timeBytes) <= bytes.count else { return nil }
        let types = start + head.changeCount * timeBytes
        let offsets = types + head.changeCount
        var changes: [Int64] = []
        var used: [Int64] = []
        for type in 0..<head.typeCount {
            let offset = signed(at: offsets + 6 * type, bytes: 4)
            guard offset > -86_400, offset < 86_400 else { return nil }
            if type == 0 { used.append(offset) }
        }
        for index in 0..<head.changeCount {
            let time = signed(at: start + index * timeBytes, bytes: timeBytes)
            let type = Int(bytes[types + index])
            guard type < head.typeCount, changes.last.map({ $0 < time }) ?? true, abs(time / 2) < 1 << 60 else { return nil }
            changes.append(time)
            used.append(signed(at: offsets + 6 * type, bytes: 4))
        }
        return ScheduleTimeZone(name: name, changes: changes, offsets: used, rule: rule)
    }

    /// The rule between two line ends at the end of the file; an empty one is nil.
    private func rule(at offset: Int) -> (rule: TimeZoneRule?, isValid: Bool) {
        guard offset < bytes.count, bytes[offset] == 10 else { return (nil, false) }
        var end = offset + 1
        while end < bytes.count, bytes[end] != 10 { end += 1 }
        guard end < bytes.count else { return (nil, false) }
        if end == offset + 1 { return (nil, true) }
        let rule = TimeZoneRule(parsing: bytes.extracting((offset + 1)..<end))
        return (rule, rule != nil)
    }

    private func unsigned(at offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) } }

    private func signed(at offset: Int, bytes count: Int) -> Int64 {
        let value = (0..<count).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[offset + $1]) }
        return count == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
    }
}
