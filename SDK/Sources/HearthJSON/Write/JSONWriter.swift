public import HearthBytes

/// Writes JSON by hand into a buffer, commas set by itself.
///
///     JSONWriter.write(to: &buffer) { json in
///         json.object { json in
///             json.key("error")
///             json.object { $0.member("status", "NOT_FOUND") }
///         }
///     }
///
/// The calls decide the shape of the text. The caller makes sure that each key has a value and that the top has one value.
public struct JSONWriter: ~Copyable {
    private var buffer = ByteBuffer()
    private var needsComma = false

    private init() {}

    /// Appends the output of `body` to `buffer`.
    public static func write<R, E: Error>(
        to buffer: inout ByteBuffer, _ body: (inout JSONWriter) throws(E) -> R
    ) throws(E) -> R {
        var writer = JSONWriter()
        swap(&writer.buffer, &buffer)
        defer { swap(&writer.buffer, &buffer) }
        return try body(&writer)
    }

    /// The output of `body`.
    public static func bytes<E: Error>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) -> [UInt8] {
        var writer = JSONWriter()
        try body(&writer)
        return writer.buffer.array()
    }

    @inline(__always)
    private mutating func comma() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// An object of the members that `body` writes.
    public mutating func object<E: Error>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        beginObject()
        try body(&self)
        endObject()
    }

    /// An array of the values that `body` writes.
    public mutating func array<E: Error>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        beginArray()
        try body(&self)
        endArray()
    }

    /// Begins an object that ``endObject()`` ends, for members that no one closure can write.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }
    /// Ends the object that ``beginObject()`` began.
    public mutating func endObject() { end(UInt8(ascii: "}")) }
    /// Begins an array that ``endArray()`` ends.
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }
    /// Ends the array that ``beginArray()`` began.
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    private mutating func begin(_ bracket: UInt8) {
        comma()
        buffer.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    /// The name of a member, whose value comes next.
    public mutating func key(_ name: String) {
        buffer.appendKey(name, comma: needsComma)
        needsComma = false
    }

    /// A value: `null`.
    public mutating func null() {
        comma()
        buffer.append("null")
    }

    /// A value: `true` or `false`.
    public mutating func bool(_ value: Bool) {
        comma()
        buffer.append(value ? "true" : "false")
    }

    /// A value: the text, in quotation marks and escaped.
    public mutating func string(_ text: String) {
        comma()
        buffer.appendQuoted(text)
    }

    /// A string of UTF-8 bytes, which are escaped but not checked.
    public mutating func string(_ text: Span<UInt8>) {
        comma()
        text.withUnsafeBufferPointer { buffer.appendQuoted($0, closing: 0x22, closingCount: 1) }
    }

    /// A value: a whole number with all its digits, also where no `Double` holds it.
    public mutating func number<I: FixedWidthInteger>(_ value: I) {
        comma()
        buffer.appendNumber(value)
    }

    /// A number as `JSON.stringify` writes it: null when it is not finite.
    public mutating func number(_ value: Double) {
        comma()
        buffer.appendNumber(value, large: .digits)
    }

    /// A value: the whole tree.
    public mutating func value(_ value: JSONValue) {
        comma()
        value.write(to: &buffer)
    }

    /// A value that is already JSON.
    public mutating func raw(_ json: Span<UInt8>) {
        comma()
        buffer.append(json)
    }

    /// A value that is already JSON.
    public mutating func raw(_ json: StaticString) {
        comma()
        buffer.append(json)
    }

    /// A member whose value is a string.
    public mutating func member(_ name: String, _ text: String) {
        key(name)
        string(text)
    }

    /// A member whose value is a whole number.
    public mutating func member<I: FixedWidthInteger>(_ name: String, _ value: I) {
        key(name)
        number(value)
    }

    /// A member whose value is true or false.
    public mutating func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }
}

extension ByteBuffer {
    /// Appends `text` between quotes, escaped as `JSON.stringify` does.
    public mutating func append(jsonString text: String) { appendQuoted(text) }

    /// Appends UTF-8 bytes between quotes, escaped as `JSON.stringify` does but not checked.
    public mutating func append(jsonString text: Span<UInt8>) {
        text.withUnsafeBufferPointer { appendQuoted($0, closing: 0x22, closingCount: 1) }
    }

    /// Appends a number as `JSON.stringify` writes it: null when it is not finite.
    public mutating func append(jsonNumber value: Double) { appendNumber(value, large: .digits) }
}
