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
