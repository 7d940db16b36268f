import HearthBytes
import HearthJSON

extension Node {
    /// Appends the node for people to read: a member a line, two spaces a level, a space on either side of the colon. Arrays go on
    /// in their line and do not indent what is in them.
    func writePretty(to buffer: inout ByteBuffer, form: JSONForm, level: Int) {
        switch content {
        case .empty: buffer.append("null")
        case .leaf(let leaf):
            guard form == .export, let priority else { return leaf.write(to: &buffer) }
            Self.beginMember(isFirst: true, ".value", level: level, to: &buffer)
            leaf.write(to: &buffer)
            Self.close(with: priority, level: level, to: &buffer)
        case .children(let children):
            if form == .value, let count = ArrayShape.slots(of: children) {
                Self.writePrettyArray(children, count: count, level: level, to: &buffer)
                return
            }
            for index in children.indices {
                Self.beginMember(isFirst: index == 0, children[index].key, level: level, to: &buffer)
                children[index].node.writePretty(to: &buffer, form: form, level: level + 1)
            }
            Self.close(with: form == .export ? priority : nil, level: level, to: &buffer)
        }
    }

    private static func writePrettyArray(_ children: [Child], count: Int, level: Int, to buffer: inout ByteBuffer) {
        var index = 0
        for slot in 0..<count {
            buffer.append(slot == 0 ? "[ " : ", ")
            if ArrayShape.index(children[index].key) == slot {
                children[index].node.writePretty(to: &buffer, form: .value, level: level)
                index += 1
            } else {
                buffer.append("null")
            }
        }
        buffer.append(" ]")
    }

    private static func beginMember(isFirst: Bool, _ key: String, level: Int, to buffer: inout ByteBuffer) {
        buffer.append(isFirst ? UInt8(ascii: "{") : UInt8(ascii: ","))
        newLine(level: level + 1, to: &buffer)
        buffer.append(jsonString: key)
        buffer.append(" : ")
    }

    private static func close(with priority: Priority?, level: Int, to buffer: inout ByteBuffer) {
        if let priority {
            beginMember(isFirst: false, ".priority", level: level, to: &buffer)
            priority.write(to: &buffer)
        }
        newLine(level: level, to: &buffer)
        buffer.append(UInt8(ascii: "}"))
    }

    private static func newLine(level: Int, to buffer: inout ByteBuffer) {
        buffer.append(UInt8(ascii: "\n"))
        for _ in 0..<level { buffer.append("  ") }
    }
}
