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
