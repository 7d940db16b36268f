import HearthBytes
import HearthJSON

/// Indented JSON for people, with the spaces of the hosted service: `"name" : value`.
enum PrettyJSON {
    static func append(_ value: JSONValue, to buffer: inout ByteBuffer, depth: Int = 0) {
        switch value {
        case .object(let members) where !members.isEmpty:
            var isFirst = true
            for (key, member) in members {
                buffer.append(isFirst ? "{" : ",")
                isFirst = false
                appendLine(depth + 1, to: &buffer)
                buffer.append(jsonString: key)
                buffer.append(" : ")
                append(member, to: &buffer, depth: depth + 1)
            }
            appendLine(depth, to: &buffer)
            buffer.append("}")
        case .array(let elements) where !elements.isEmpty:
            var isFirst = true
            for element in elements {
                buffer.append(isFirst ? "[ " : ", ")
                isFirst = false
                append(element, to: &buffer, depth: depth)
            }
            buffer.append(" ]")
        default: value.write(to: &buffer)
        }
    }

    private static func appendLine(_ depth: Int, to buffer: inout ByteBuffer) {
        buffer.append("\n")
        for _ in 0..<depth { buffer.append("  ") }
    }
}
