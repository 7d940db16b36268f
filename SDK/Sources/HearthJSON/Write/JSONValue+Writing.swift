public import HearthBytes

extension JSONValue {
    /// The value as compact JSON. A double that is not finite becomes null, as in JavaScript.
    public func serialized() -> [UInt8] {
        var buffer = ByteBuffer()
        write(to: &buffer)
        return buffer.array()
    }

    /// Appends the value as compact JSON. A double that is not finite becomes null, as in JavaScript.
    public func write(to buffer: inout ByteBuffer) { write(to: &buffer, large: .digits) }

    func write(to buffer: inout ByteBuffer, large: LargeDoubles) {
        switch self {
        case .null: buffer.append("null")
        case .bool(let value): buffer.append(value ? "true" : "false")
        case .int(let value): buffer.appendNumber(value)
        case .uint(let value): buffer.appendNumber(value)
        case .double(let value): buffer.appendNumber(value, large: large)
        case .string(let value): buffer.appendQuoted(value)
        case .array(let elements):
            buffer.append(UInt8(ascii: "["))
            for index in elements.indices {
                if index > 0 { buffer.append(UInt8(ascii: ",")) }
                elements[index].write(to: &buffer, large: large)
            }
            buffer.append(UInt8(ascii: "]"))
        case .object(let members):
            buffer.append(UInt8(ascii: "{"))
            for index in members.indices {
                if index > 0 { buffer.append(UInt8(ascii: ",")) }
                buffer.appendQuoted(members[index].key)
                buffer.append(UInt8(ascii: ":"))
                members[index].value.write(to: &buffer, large: large)
            }
            buffer.append(UInt8(ascii: "}"))
        }
    }
}
