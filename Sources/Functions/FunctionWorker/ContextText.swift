import HearthBytes
import HearthJSON

/// Converts the raw context of an HTTP call to the JSON object, for plugins that do not read the raw form.
enum ContextText {
    /// Appends the object. An invalid raw context becomes an empty object.
    static func write(raw bytes: Span<UInt8>, to buffer: inout ByteBuffer) {
        guard let context = RawContext(bytes) else { return buffer.append("{}") }
        func part(_ name: StaticString, _ part: RawContext.Part) {
            guard let range = context.range(part) else { return }
            buffer.append(name)
            buffer.append(received: bytes.extracting(range))
        }
        buffer.append("{\"method\":")
        buffer.append(received: bytes.extracting(context.range(context.method) ?? 0..<0))
        part(",\"path\":", context.path)
        part(",\"query\":", context.query)
        buffer.append(",\"headers\":[")
        for index in 0..<context.fieldCount {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            let field = context.field(index, in: bytes)
            buffer.append(fieldName: bytes.extracting(field.name))
            buffer.append(received: bytes.extracting(field.value))
        }
        buffer.append("]")
        part(",\"peer\":", context.peer)
        if let trace = context.trace {
            buffer.append(",\"trace\":")
            buffer.append(jsonString: trace.parent)
            part(",\"tracestate\":", context.tracestate)
        }
        if let caller = context.range(context.caller) { buffer.append(bytes.extracting(caller)) }
        buffer.append(UInt8(ascii: "}"))
    }
}

extension ByteBuffer {
    /// Appends the name of a header field in lower case, quoted, and a comma.
    fileprivate mutating func append(fieldName name: Span<UInt8>) {
        // The host only accepts tokens, which need no escape.
        for index in 0..<name.count where name[index] <= 0x20 || name[index] >= 0x7F || name[index] == 0x22 || name[index] == 0x5C {
            append(received: name)
            return append(UInt8(ascii: ","))
        }
        append(lowercasedName: name)
    }

    /// Appends received text as a JSON string. A client may send any bytes in a header: those that are not UTF-8 become U+FFFD, as plugins in Swift
    /// read them.
    fileprivate mutating func append(received text: Span<UInt8>) {
        for index in 0..<text.count where text[index] >= 0x80 { return append(jsonString: text.string()) }
        append(jsonString: text)
    }

    /// Appends a header's name in lower case, quoted, and a comma. A name is a token, so that nothing needs an escape.
    mutating func append(lowercasedName name: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        name.withUnsafeBufferPointer { name in
            appendUninitialized(minimum: name.count + 1) { room in
                guard let target = room.baseAddress, let source = UnsafeRawPointer(name.baseAddress) else { return 0 }
                var index = 0
                while index + 4 <= name.count {
                    let word = source.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                    target.storeBytes(of: word.lowercasedBytes, toByteOffset: index, as: UInt32.self)
                    index += 4
                }
                while index < name.count {
                    target.storeBytes(of: name[index] &- 65 < 26 ? name[index] | 0x20 : name[index], toByteOffset: index, as: UInt8.self)
                    index += 1
                }
                return name.count
            }
        }
        append("\",")
    }
}

extension UInt32 {
    /// Four bytes with ASCII letters converted to lower case. The top bit of a byte marks a capital letter. Shifted by two, it is the difference
    /// between capital and small letters.
    var lowercasedBytes: UInt32 {
        let heptets = self & 0x7F7F_7F7F
        let beyondZ = heptets &+ 0x2525_2525
        let fromA = heptets &+ 0x3F3F_3F3F
        return self | ((~self & 0x8080_8080 & (fromA ^ beyondZ)) >> 2)
    }
}
