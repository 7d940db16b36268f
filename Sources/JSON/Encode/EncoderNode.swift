/// One value as its type's `encode(to:)` sees it: the encoder, and the container of a single value.
struct EncoderNode: Encoder {
    let encoding: Encoding
    let frame: Int

    var codingPath: [any CodingKey] { encoding.path }
    var userInfo: [CodingUserInfoKey: Any] { encoding.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let isOpen = encoding.open(.object, frame)
        return KeyedEncodingContainer(KeyedEncoding<Key>(encoding: encoding, frame: isOpen ? frame : Encoding.closedFrame))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let isOpen = encoding.open(.array, frame)
        return UnkeyedEncoding(encoding: encoding, frame: isOpen ? frame : Encoding.closedFrame)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension EncoderNode: SingleValueEncodingContainer {
    func encodeNil() throws {
        try encoding.single(frame)
        encoding.null()
    }

    func encode(_ value: Bool) throws {
        try encoding.single(frame)
        encoding.bool(value)
    }

    func encode(_ value: String) throws {
        try encoding.single(frame)
        encoding.output.appendQuoted(value)
    }

    func encode(_ value: Double) throws {
        try encoding.single(frame)
        try encoding.number(value)
    }

    func encode(_ value: Float) throws {
        try encoding.single(frame)
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
            try encoding.single(frame)
            try encoding.value(value)
        }
    }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ value: I) throws {
        try encoding.single(frame)
        encoding.output.appendNumber(value)
    }
}
