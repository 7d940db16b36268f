import HearthBytes
public import HearthJSON

extension Node {
    /// Converts a JSON value in either form: arrays, `.value` and `.priority` are understood. Refuses server values and numbers that are
    /// not finite.
    public init(json: JSONValue) throws(NodeError) {
        var text = ByteBuffer()
        try Self.write(json, to: &text)
        let draft = try Draft(parsing: text.bytes)
        guard draft.isResolved else { throw NodeError(kind: .badServerValue) }
        self = draft.node
    }

    /// Writes the value with leaves in this module's form: JSONValue writes `-0` without its sign.
    private static func write(_ json: JSONValue, to text: inout ByteBuffer) throws(NodeError) {
        switch json {
        case .null: text.append("null")
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for index in elements.indices {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                try write(elements[index], to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for index in members.indices {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                text.append(jsonString: members[index].key)
                text.append(UInt8(ascii: ":"))
                try write(members[index].value, to: &text)
            }
            text.append(UInt8(ascii: "}"))
        default:
            guard let leaf = Leaf(json) else { throw NodeError(kind: .malformed) }
            leaf.write(to: &text)
        }
    }

    /// The value without priorities; children with dense integer keys are arrays (spec database 1.2).
    public var json: JSONValue {
        switch content {
        case .empty: return .null
        case .leaf(let leaf): return leaf.json
        case .children(let children):
            guard let count = ArrayShape.slots(of: children) else {
                return .object(JSONObject(children.lazy.map { ($0.key, $0.node.json) }))
            }
            var elements = [JSONValue](repeating: .null, count: count)
            for child in children {
                if let index = ArrayShape.index(child.key) { elements[index] = child.node.json }
            }
            return .array(elements)
        }
    }
}
