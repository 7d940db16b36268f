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
