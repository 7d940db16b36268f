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

/// The elements of one array, taken in order.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let document: Document
    private let array: UInt32
    /// The entry of the next element.
    private var next: UInt32
    private var taken: UInt32 = 0

    var currentIndex: Int { Int(taken) }

    init(_ document: Document, array: Int) throws {
        guard document.token(array).isKind(.array) else { throw document.mismatch([Any].self, at: array) }
        self.document = document
        self.array = UInt32(truncatingIfNeeded: array)
        next = self.array + 1
    }

    var codingPath: [any CodingKey] { document.path(to: Int(array)) }
    var count: Int? { isAtEnd ? currentIndex : Int(document.token(Int(array)).extent) }
    var isAtEnd: Bool { !document.isLive || next >= document.token(Int(array)).next }

    /// The entry of the next element, which is taken only when `body` makes a value of it.
    @inline(__always)
    private mutating func take<R>(_ type: Any.Type, _ body: (Document, Int) throws -> R) throws -> R {
        let element = Int(next)
        guard !isAtEnd else { throw exhausted(type) }
        let value = try body(document, element)
        next = document.token(element).next
        taken += 1
        return value
    }

    @inline(never)
    private func exhausted(_ type: Any.Type) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: codingPath + [JSONKey(index: currentIndex)], debugDescription: "The array has no more elements."))
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { throw exhausted(Never.self) }
        guard document.isNull(at: Int(next)) else { return false }
        next += 1
        taken += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try take(type) { try $0.bool(at: $1) } }
    mutating func decode(_ type: String.Type) throws -> String { try take(type) { try $0.string(at: $1) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try take(type) { try $0.double(at: $1) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try take(type) { try $0.float(at: $1) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try take(type) { try $0.value(type, at: $1) } }

    @inline(__always)
    private mutating func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
        try take(type) { try $0.integer(type, at: $1) }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try take([String: Any].self) { KeyedDecodingContainer(try KeyedDecoding<Nested>($0, object: $1)) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take([Any].self) { try UnkeyedDecoding($0, array: $1) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try take((any Decoder).self) { DecoderNode(document: $0, token: $1) }
    }
}

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
