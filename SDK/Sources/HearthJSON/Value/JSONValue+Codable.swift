extension JSONValue: Codable {
    /// Takes any value a decoder offers. This room's own decoder hands the tree over without coming here.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: JSONKey.self) {
            var members = JSONObject(minimumCapacity: container.allKeys.count)
            for key in container.allKeys { members[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .int(value) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        return .string(try container.decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            var container = encoder.container(keyedBy: JSONKey.self)
            for member in members { try container.encode(member.value, forKey: JSONKey(member.key)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(in: &container)
        }
    }

    private func encodeScalar(in container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        default: try container.encodeNil()
        }
    }
}

extension JSONObject: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        guard let members = value.object else {
            throw DecodingError.typeMismatch(
                Self.self, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "Expected an object."))
        }
        self = members
    }

    public func encode(to encoder: any Encoder) throws { try JSONValue.object(self).encode(to: encoder) }
}
