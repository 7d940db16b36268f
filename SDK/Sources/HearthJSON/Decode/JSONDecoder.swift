/// Makes values of `Decodable` types out of JSON, straight from the bytes: no tree stands between.
///
/// - A `Double` or `Float` takes any number; an integer type takes every number that is whole and fits, `3.0` and `3e2` too.
/// - Of equal names in an object the last one counts.
/// - A missing member is `keyNotFound`, a null one `valueNotFound`, each with the path to it; for an optional both are nil.
/// - Text that is not JSON is `dataCorrupted` with the `JSONError` as its underlying error.
/// - `JSONValue` is taken as it is.
/// - A decoder or container that is kept throws once the decode has ended.
///
/// A decoder may be used from any number of threads at once.
public struct JSONDecoder: Sendable {
    /// The deepest nesting of the texts.
    public var limits: JSONLimits
    /// The `userInfo` of the decoders that types get.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// With the default limits arrays and objects may nest 512 deep.
    public init(limits: JSONLimits = JSONLimits()) { self.limits = limits }

    /// Decodes one value from `bytes`, which is exactly one JSON text.
    ///
    /// - Throws: `DecodingError`, and whatever the type's own `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: Span<UInt8>) throws -> T {
        try bytes.withUnsafeBufferPointer { try decode(type, from: $0) }
    }

    /// Decodes one value from `bytes`, which is exactly one JSON text.
    ///
    /// - Throws: `DecodingError`, and whatever the type's own `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        try bytes.withUnsafeBufferPointer { try decode(type, from: $0) }
    }

    /// Decodes one value from a tree.
    ///
    /// - Throws: `DecodingError`, and whatever the type's own `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        if let value = value as? T { return value }
        return try decode(type, from: value.serialized())
    }

    private func decode<T: Decodable>(_ type: T.Type, from bytes: UnsafeBufferPointer<UInt8>) throws -> T {
        try Document.with(bytes, limits: limits, failure: Self.corrupted) { document in
            if !userInfo.isEmpty { document.storage.pointee.userInfo = userInfo }
            return try document.value(type, at: 0)
        }
    }

    private static func corrupted(_ error: JSONError) -> any Error {
        DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: [], debugDescription: "This is not JSON. \(error)", underlyingError: error))
    }
}

extension JSONValue {
    /// Reads `text`, which is exactly one JSON value, white space around it allowed.
    ///
    /// Whole numbers up to 64 bits are exact, others become the nearest `Double`; one that no `Double` holds is refused. An
    /// escape for half a surrogate pair becomes U+FFFD.
    public init(parsing text: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self = try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in try Self.parse(bytes, limits) }
    }

    /// Reads `text`, which is exactly one JSON value, white space around it allowed.
    public init(parsing text: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self = try Self(parsing: text.span, limits: limits)
    }

    /// Reads `text`, which is exactly one JSON value, white space around it allowed.
    public init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self = try Self(parsing: Array(text.utf8), limits: limits)
    }

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) throws(JSONError) -> JSONValue {
        try Document.with(bytes, limits: limits, failure: { $0 }) { (document) throws(JSONError) in document.tree(at: 0) }
    }
}
