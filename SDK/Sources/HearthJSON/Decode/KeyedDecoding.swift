/// The members of one object, found by name on the tape.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: Document
    let object: Int

    @inline(__always)
    init(_ document: Document, object: Int) throws {
        guard document.token(object).isKind(.object) else { throw document.mismatch([String: Any].self, at: object) }
        self.document = document
        self.object = object
    }

    var codingPath: [any CodingKey] { document.path(to: object) }
    var allKeys: [Key] { document.isLive ? document.keys(Key.self, of: object) : [] }

    /// The entry of the member's value.
    @inline(__always)
    private func value(_ key: Key) throws -> Int {
        let found = try document.live().find(key.stringValue, in: object)
        guard found >= 0 else { throw missing(key) }
        return found
    }

    /// The entry of the member's value, or nil when it is absent or null.
    @inline(__always)
    private func valueIfPresent(_ key: Key) throws -> Int? {
        let found = try document.live().find(key.stringValue, in: object)
        return found < 0 || document.isNull(at: found) ? nil : found
    }

    @inline(never)
    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(key, document.context(at: object, "There is no member \"\(key.stringValue)\"."))
    }

    func contains(_ key: Key) -> Bool { document.isLive && document.find(key.stringValue, in: object) >= 0 }
    func decodeNil(forKey key: Key) throws -> Bool { document.isNull(at: try value(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try document.bool(at: value(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try document.string(at: value(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try document.double(at: value(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try document.float(at: value(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try document.integer(type, at: value(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try document.integer(type, at: value(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try document.integer(type, at: value(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try document.integer(type, at: value(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try document.integer(type, at: value(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try document.integer(type, at: value(key)) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try document.value(type, at: value(key)) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try valueIfPresent(key).map(document.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try valueIfPresent(key).map(document.string) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try valueIfPresent(key).map(document.double) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try valueIfPresent(key).map { try document.integer(type, at: $0) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try valueIfPresent(key).map { try document.integer(type, at: $0) }
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try valueIfPresent(key).map { try document.value(type, at: $0) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(try KeyedDecoding<Nested>(document, object: value(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try UnkeyedDecoding(document, array: value(key))
    }

    /// The decoder of the member `super`, which sees null when there is none.
    func superDecoder() throws -> any Decoder {
        let found = try document.live().find(JSONKey.super.stringValue, in: object)
        return DecoderNode(document: document, token: found < 0 ? document.absentToken : found)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        let found = try document.live().find(key.stringValue, in: object)
        return DecoderNode(document: document, token: found < 0 ? document.absentToken : found)
    }
}
