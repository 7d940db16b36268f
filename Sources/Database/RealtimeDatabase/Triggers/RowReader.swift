import HearthBytes

/// Reads the fields of a row in the format of ``RowWriter``.
struct RowReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var offset = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func number() throws(RowError) -> UInt64 {
        var number: UInt64 = 0
        var shift = 0
        while offset < bytes.count, shift < 64 {
            let byte = bytes[offset]
            offset += 1
            // The tenth byte contains only one bit of a 64-bit number.
            guard shift < 63 || byte <= 1 else { throw RowError() }
            number |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return number }
            shift += 7
        }
        throw RowError()
    }

    /// A number of elements, each of which has at least one byte.
    mutating func count() throws(RowError) -> Int {
        let number = try number()
        guard number <= UInt64(bytes.count - offset) else { throw RowError() }
        return Int(number)
    }

    mutating func smallNumber() throws(RowError) -> Int {
        guard let number = Int(exactly: try number()) else { throw RowError() }
        return number
    }

    mutating func time() throws(RowError) -> Int64 { Int64(bitPattern: try number()) }

    mutating func array() throws(RowError) -> [UInt8] {
        let count = try count()
        defer { offset += count }
        return bytes.extracting(offset..<offset + count).array()
    }

    mutating func text() throws(RowError) -> String {
        let count = try count()
        defer { offset += count }
        return bytes.extracting(offset..<offset + count).string()
    }

    mutating func optionalText() throws(RowError) -> String? {
        switch try number() {
        case 0: nil
        case 1: try text()
        default: throw RowError()
        }
    }

    /// An enumeration case by its raw value.
    mutating func choice<Choice: RawRepresentable>(_ type: Choice.Type) throws(RowError) -> Choice where Choice.RawValue == UInt8 {
        guard let raw = UInt8(exactly: try number()), let choice = Choice(rawValue: raw) else { throw RowError() }
        return choice
    }
}

/// The row is damaged, or its version is unknown.
struct RowError: Error {}
