/// The elements of one array, written as they are encoded.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoding: Encoding
    let frame: Int
    private(set) var count: Int

    init(encoding: Encoding, frame: Int) {
        self.encoding = encoding
        self.frame = frame
        count = 0
    }

    var codingPath: [any CodingKey] { encoding.path }

    mutating func encodeNil() throws {
        try begin()
        encoding.text.pointee.null()
    }

    mutating func encode(_ value: Bool) throws {
        try begin()
        encoding.text.pointee.bool(value)
    }

    mutating func encode(_ value: String) throws {
        try begin()
        encoding.text.pointee.output.appendQuoted(value)
    }

    mutating func encode(_ value: Double) throws {
        guard value.isFinite else { throw encoding.invalid(value, "JSON has no \(value).", at: JSONKey(index: count)) }
        try begin()
        encoding.text.pointee.output.appendNumber(value, large: encoding.text.pointee.largeDoubles)
    }

    mutating func encode(_ value: Float) throws {
        guard value.isFinite else { throw encoding.invalid(value, "JSON has no \(value).", at: JSONKey(index: count)) }
        try begin()
        encoding.text.pointee.output.appendNumber(value, large: encoding.text.pointee.largeDoubles)
    }

    mutating func encode(_ value: Int) throws { try integer(value) }
    mutating func encode(_ value: Int8) throws { try integer(value) }
    mutating func encode(_ value: Int16) throws { try integer(value) }
    mutating func encode(_ value: Int32) throws { try integer(value) }
    mutating func encode(_ value: Int64) throws { try integer(value) }
    mutating func encode(_ value: UInt) throws { try integer(value) }
    mutating func encode(_ value: UInt8) throws { try integer(value) }
    mutating func encode(_ value: UInt16) throws { try integer(value) }
    mutating func encode(_ value: UInt32) throws { try integer(value) }
    mutating func encode(_ value: UInt64) throws { try integer(value) }

    mutating func encode<T: Encodable>(_ value: T) throws {
        try encoding.attempt {
            guard encoding.text.pointee.element(frame) else { throw encoding.stale() }
            try encoding.value(value)
        }
        count += 1
    }

    @inline(__always)
    private mutating func begin() throws {
        guard encoding.text.pointee.element(frame) else { throw encoding.stale() }
        count += 1
    }

    @inline(__always)
    private mutating func integer<I: FixedWidthInteger>(_ value: I) throws {
        try begin()
        encoding.text.pointee.output.appendNumber(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { nested() }

    private mutating func nested() -> EncoderNode {
        guard encoding.text.pointee.element(frame) else { return encoding.nowhere() }
        count += 1
        return encoding.nested()
    }
}
