public import HearthBytes

/// Writes `Encodable` values as compact JSON, straight into one buffer: no tree stands between.
///
/// - Numbers are written as `JSON.stringify` does: whole doubles without a fraction, others with the fewest digits that read
///   back to the same value.
/// - Types of Foundation have their own form: a `Date` is a number, `Data` an array of numbers.
/// - A number that is not finite is `EncodingError.invalidValue` with the path to it; inside a `JSONValue` it becomes null.
/// - An encoder or container that is kept throws once the encode has ended.
/// - Members stand in the order in which they are encoded. A name that is encoded twice is written twice.
///
/// An encoder may be used from any number of threads at once.
public struct JSONEncoder: Sendable {
    /// The `userInfo` of the encoders that types get.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// The form of whole doubles from 2^53 on.
    public var largeDoubles: LargeDoubles

    /// As `JSON.stringify` writes numbers, unless another way is asked for.
    public init(largeDoubles: LargeDoubles = .digits) { self.largeDoubles = largeDoubles }

    /// The JSON of `value`.
    ///
    /// - Throws: `EncodingError`, and whatever the type's own `encode(to:)` throws.
    public func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        try Encoding.with { encoding in
            try encoding.top(value, self)
            return encoding.text.pointee.output.array()
        }
    }

    /// Appends the JSON of `value` to `buffer`, which stays as it was when this throws.
    ///
    /// - Throws: `EncodingError`, and whatever the type's own `encode(to:)` throws.
    public func encode<T: Encodable>(_ value: T, into buffer: inout ByteBuffer) throws {
        try Encoding.with { encoding in
            swap(&encoding.text.pointee.output, &buffer)
            defer { swap(&encoding.text.pointee.output, &buffer) }
            try encoding.top(value, self)
        }
    }

    /// `value` as a tree.
    ///
    /// - Throws: `EncodingError`, and whatever the type's own `encode(to:)` throws.
    public func encodeValue<T: Encodable>(_ value: T) throws -> JSONValue {
        if let value = value as? JSONValue { return value }
        return try JSONValue(parsing: encode(value), limits: JSONLimits(depthMax: JSONLimits.depthCeiling))
    }
}
