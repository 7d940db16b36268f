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
