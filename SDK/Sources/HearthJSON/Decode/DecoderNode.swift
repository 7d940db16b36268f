/// One entry of a document as its type's `init(from:)` sees it: the decoder, and the container of a single value.
struct DecoderNode: Decoder {
    let document: Document
    let token: Int

    var codingPath: [any CodingKey] { document.path(to: token) }
    var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedDecoding<Key>(document.live(), object: token))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedDecoding(document.live(), array: token) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension DecoderNode: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.isLive && document.isNull(at: token) }
    func decode(_ type: Bool.Type) throws -> Bool { try document.live().bool(at: token) }
    func decode(_ type: String.Type) throws -> String { try document.live().string(at: token) }
    func decode(_ type: Double.Type) throws -> Double { try document.live().double(at: token) }
    func decode(_ type: Float.Type) throws -> Float { try document.live().float(at: token) }
    func decode(_ type: Int.Type) throws -> Int { try document.live().integer(type, at: token) }
    func decode(_ type: Int8.Type) throws -> Int8 { try document.live().integer(type, at: token) }
    func decode(_ type: Int16.Type) throws -> Int16 { try document.live().integer(type, at: token) }
    func decode(_ type: Int32.Type) throws -> Int32 { try document.live().integer(type, at: token) }
    func decode(_ type: Int64.Type) throws -> Int64 { try document.live().integer(type, at: token) }
    func decode(_ type: UInt.Type) throws -> UInt { try document.live().integer(type, at: token) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try document.live().integer(type, at: token) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try document.live().integer(type, at: token) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try document.live().integer(type, at: token) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try document.live().integer(type, at: token) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try document.live().value(type, at: token) }
}
