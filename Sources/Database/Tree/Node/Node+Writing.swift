public import HearthBytes
import HearthJSON

/// The JSON form of a node.
public enum JSONForm: Sendable, Hashable {
    /// Children with dense integer keys form an array (spec database 1.2); priorities are left out.
    case value
    /// Objects only; priorities as `.priority`; a leaf with a priority as `.value` beside it.
    case export
}

extension Node {
    /// Appends the node as JSON, `null` when it is empty: compact, or indented.
    public func write(to buffer: inout ByteBuffer, form: JSONForm = .value, isPretty: Bool = false) {
        if isPretty { writePretty(to: &buffer, form: form, level: 0) } else { writeCompact(to: &buffer, form: form) }
    }

    private func writeCompact(to buffer: inout ByteBuffer, form: JSONForm) {
        switch content {
        case .empty: buffer.append("null")
        case .leaf(let leaf):
            guard form == .export, let priority else { return leaf.write(to: &buffer) }
            buffer.append("{\".value\":")
            leaf.write(to: &buffer)
            Self.close(with: priority, to: &buffer)
        case .children(let children):
            if form == .value, let count = ArrayShape.slots(of: children) {
                Self.writeArray(children, count: count, to: &buffer)
            } else {
                writeObject(children, form, to: &buffer)
            }
        }
    }

    /// The node as compact JSON.
    public func serialized(form: JSONForm = .value) -> [UInt8] {
        var buffer = ByteBuffer()
        write(to: &buffer, form: form)
        return buffer.array()
    }

    private func writeObject(_ children: [Child], _ form: JSONForm, to buffer: inout ByteBuffer) {
        var opening = UInt8(ascii: "{")
        for index in children.indices {
            buffer.append(opening)
            opening = UInt8(ascii: ",")
            buffer.append(jsonString: children[index].key)
            buffer.append(UInt8(ascii: ":"))
            children[index].node.writeCompact(to: &buffer, form: form)
        }
        if form == .export, let priority {
            Self.close(with: priority, to: &buffer)
        } else {
            buffer.append(UInt8(ascii: "}"))
        }
    }

    private static func close(with priority: Priority, to buffer: inout ByteBuffer) {
        buffer.append(",\".priority\":")
        priority.write(to: &buffer)
        buffer.append(UInt8(ascii: "}"))
    }

    private static func writeArray(_ children: [Child], count: Int, to buffer: inout ByteBuffer) {
        var opening = UInt8(ascii: "[")
        var index = 0
        for slot in 0..<count {
            buffer.append(opening)
            opening = UInt8(ascii: ",")
            if ArrayShape.index(children[index].key) == slot {
                children[index].node.writeCompact(to: &buffer, form: .value)
                index += 1
            } else {
                buffer.append("null")
            }
        }
        buffer.append(UInt8(ascii: "]"))
    }
}

extension Node {
    /// Appends the node indented: one member a line, two spaces a level, a space on either side of the colon. Array elements stay on one
    /// line and add no indentation.
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

/// The condition for showing children as an array: all keys are non-negative integers in their shortest form, and the greatest is less than
/// twice the number of children (spec database 1.2).
public enum ArrayShape {
    /// The length of the array, including holes; nil when the children form an object.
    static func slots(of children: [Node.Child]) -> Int? {
        guard let last = children.last, let greatest = index(last.key), isDense(greatest: greatest, count: children.count) else {
            return nil
        }
        for child in children where index(child.key) == nil { return nil }
        return greatest + 1
    }

    /// Whether `count` children with index keys form an array when `greatest` is the greatest index.
    public static func isDense(greatest: Int, count: Int) -> Bool { greatest < 2 * count }

    /// The array index of a key; nil for any other key.
    @inline(__always)
    public static func index(_ key: String) -> Int? {
        var key = key
        return key.withUTF8 { IntegerKey($0)?.arrayIndex }
    }
}
