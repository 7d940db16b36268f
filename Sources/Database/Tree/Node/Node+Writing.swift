public import HearthBytes
import HearthJSON

/// How a node is written as JSON.
public enum JSONForm: Sendable, Hashable {
    /// Children with dense whole numbers for keys are an array (spec database 1.2); priorities are left out.
    case value
    /// Objects only, priorities as `.priority`, a leaf that has one as `.value` beside it.
    case export
}

extension Node {
    /// Appends the node as JSON, `null` when it is empty: compact, or indented for people to read.
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
