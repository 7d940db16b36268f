import HearthBytes
import HearthJSON
import Tree

/// The old and the new value of a change, which differ.
struct EventValues {
    /// The old value; empty if the value was created.
    var before: Node
    /// The new value; empty if the value was deleted.
    var after: Node

    /// The kind of change.
    var change: TriggerKind { before.isEmpty ? .created : after.isEmpty ? .deleted : .updated }

    /// The payload of an event without its values.
    static let truncatedPayload = Array("{\"truncated\":true}".utf8)

    /// The payload of an event; nil if it is larger than `bytesMax`.
    ///
    /// The size is that of the old value and the changes (spec functions 8.6), or that of both values if it is smaller.
    func payload(bytesMax: Int) -> [UInt8]? {
        guard before.sizeAtLeast(upTo: bytesMax) <= bytesMax, after.sizeAtLeast(upTo: bytesMax) <= bytesMax else { return nil }
        var buffer = ByteBuffer()
        buffer.append("{\"before\":")
        before.write(to: &buffer)
        let beforeSize = buffer.count - Self.beforePosition
        buffer.append(",\"after\":")
        let afterPosition = buffer.count
        after.write(to: &buffer)
        let bothSize = beforeSize + buffer.count - afterPosition
        buffer.append("}")
        if bothSize > bytesMax {
            var delta = ByteBuffer()
            Self.writeDelta(before, after, to: &delta)
            guard beforeSize + delta.count <= bytesMax else { return nil }
        }
        return buffer.array()
    }

    private static let beforePosition = 10

    /// Appends the changes (spec functions 8.4): the changed children, with null for each removed one, or the new value if either value has no
    /// children.
    private static func writeDelta(_ before: Node, _ after: Node, to buffer: inout ByteBuffer) {
        guard case .children(let old) = before.content, case .children(let new) = after.content else {
            return after.write(to: &buffer, form: .value)
        }
        var opening = UInt8(ascii: "{")
        func open(_ key: String, _ buffer: inout ByteBuffer) {
            buffer.append(opening)
            opening = UInt8(ascii: ",")
            buffer.append(jsonString: key)
            buffer.append(UInt8(ascii: ":"))
        }
        for child in old where after.child(child.key).isEmpty {
            open(child.key, &buffer)
            buffer.append("null")
        }
        for child in new {
            let previous = before.child(child.key)
            guard !previous.hasSameValue(as: child.node) else { continue }
            open(child.key, &buffer)
            writeDelta(previous, child.node, to: &buffer)
        }
        buffer.append(UInt8(ascii: "}"))
    }
}

extension Node {
    /// A lower bound of the size of the node's JSON. Stops counting above `limit`.
    fileprivate func sizeAtLeast(upTo limit: Int) -> Int {
        switch content {
        case .empty: return 4
        case .leaf(let leaf): return leaf.string.map { $0.utf8.count + 2 } ?? 1
        case .children(let children):
            var size = 0
            for child in children {
                // Arrays are written without keys, which have at most ten digits.
                size += max(0, child.key.utf8.count - 10) + 1 + child.node.sizeAtLeast(upTo: limit - size)
                if size > limit { return size }
            }
            return size
        }
    }
}
