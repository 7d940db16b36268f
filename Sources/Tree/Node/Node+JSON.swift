public import JSON

extension Node {
    /// Takes a value in either form: arrays, `.value` and `.priority` are understood. Server values are refused.
    public init(json: JSONValue) throws(NodeError) {
        let draft = try Draft(parsing: json.serialized().span)
        guard draft.isResolved else { throw NodeError(kind: .badServerValue) }
        self = draft.node
    }

    /// The value without priorities, dense whole numbers as arrays (spec database 1.2).
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
