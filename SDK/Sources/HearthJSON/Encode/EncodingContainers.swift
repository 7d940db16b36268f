/// The members of one object, written as they are encoded.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: Encoding
    let frame: Int

    var codingPath: [any CodingKey] { encoding.path }

    func encodeNil(forKey key: Key) throws {
        try begin(key)
        encoding.text.pointee.null()
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try begin(key)
        encoding.text.pointee.bool(value)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try begin(key)
        encoding.text.pointee.output.appendQuoted(value)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        guard value.isFinite else { throw encoding.invalid(value, "JSON has no \(value).", at: key) }
        try begin(key)
        encoding.text.pointee.output.appendNumber(value, large: encoding.text.pointee.largeDoubles)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        guard value.isFinite else { throw encoding.invalid(value, "JSON has no \(value).", at: key) }
        try begin(key)
        encoding.text.pointee.output.appendNumber(value, large: encoding.text.pointee.largeDoubles)
    }

    func encode(_ value: Int, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try integer(value, key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoding.attempt {
            try begin(key)
            try encoding.value(value)
        }
    }

    @inline(__always)
    private func begin(_ key: Key) throws {
        guard encoding.text.pointee.key(key.stringValue, frame) else { throw encoding.stale() }
    }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ value: I, _ key: Key) throws {
        try begin(key)
        encoding.text.pointee.output.appendNumber(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { nested(JSONKey.super) }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: some CodingKey) -> EncoderNode {
        encoding.text.pointee.key(key.stringValue, frame) ? encoding.nested() : encoding.nowhere()
    }
}

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

/// One value as its type's `encode(to:)` sees it: the encoder, and the container of a single value.
struct EncoderNode: Encoder {
    let encoding: Encoding
    let frame: Int

    var codingPath: [any CodingKey] { encoding.path }
    var userInfo: [CodingUserInfoKey: Any] { encoding.text.pointee.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedEncoding<Key>(encoding: encoding, frame: open(.object)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedEncoding(encoding: encoding, frame: open(.array)) }

    /// The frame of a container, which is closed, and the failure noted, when this cannot be one.
    @inline(__always)
    private func open(_ shape: EncodingText.Shape) -> Int {
        if encoding.text.pointee.open(shape, frame) { return frame }
        encoding.noteStale()
        return EncodingText.closedFrame
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension EncoderNode: SingleValueEncodingContainer {
    func encodeNil() throws {
        try begin()
        encoding.text.pointee.null()
    }

    func encode(_ value: Bool) throws {
        try begin()
        encoding.text.pointee.bool(value)
    }

    func encode(_ value: String) throws {
        try begin()
        encoding.text.pointee.output.appendQuoted(value)
    }

    func encode(_ value: Double) throws {
        try begin()
        try encoding.number(value)
    }

    func encode(_ value: Float) throws {
        try begin()
        try encoding.number(value)
    }

    func encode(_ value: Int) throws { try integer(value) }
    func encode(_ value: Int8) throws { try integer(value) }
    func encode(_ value: Int16) throws { try integer(value) }
    func encode(_ value: Int32) throws { try integer(value) }
    func encode(_ value: Int64) throws { try integer(value) }
    func encode(_ value: UInt) throws { try integer(value) }
    func encode(_ value: UInt8) throws { try integer(value) }
    func encode(_ value: UInt16) throws { try integer(value) }
    func encode(_ value: UInt32) throws { try integer(value) }
    func encode(_ value: UInt64) throws { try integer(value) }

    func encode<T: Encodable>(_ value: T) throws {
        try encoding.attempt {
            try begin()
            try encoding.value(value)
        }
    }

    @inline(__always)
    private func begin() throws {
        guard encoding.text.pointee.single(frame) else { throw encoding.stale() }
    }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ value: I) throws {
        try begin()
        encoding.text.pointee.output.appendNumber(value)
    }
}
