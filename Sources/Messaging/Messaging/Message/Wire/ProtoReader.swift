import HearthJSON

/// Reads messages by their schemas, following proto3's JSON mapping. Stops at the first error in the order of the document.
///
/// The result has names in snake case, enumerations by name and numbers as numbers, without nulls and empty strings, which mean absence. Each
/// value has the type of the schema. Paths are computed only for errors.
struct ProtoReader {
    /// Reads `value` as a message at `path`, which is empty for the request itself.
    static func message(_ value: JSONValue, _ schema: ProtoSchema, at path: @autoclosure () -> String) throws(MessagingError) -> JSONObject {
        guard case .object(let members) = value else { throw .wrongType("TYPE_MESSAGE", value, at: path()) }
        var result = JSONObject(minimumCapacity: members.count)
        var seen: Set<String> = []
        var target: String?
        for (name, value) in members {
            guard let field = schema.field(name) else { throw .unknownField(name, in: path()) }
            if case .null = value { continue }
            if field.hasTwoSpellings, !seen.insert(field.name).inserted { throw .duplicateField(at: Self.path(path(), field.name)) }
            guard let read = try self.value(value, field.type, at: Self.path(path(), field.name)) else { continue }
            if field.isTarget {
                guard target == nil else { throw .secondTarget(field.name, in: path()) }
                target = field.name
            }
            result[field.name] = read
        }
        return result
    }

    private static func path(_ parent: String, _ name: String) -> String { parent.isEmpty ? name : "\(parent).\(name)" }

    /// Reads a value; nil for a value that means absence.
    private static func value(_ value: JSONValue, _ type: ProtoType, at path: @autoclosure () -> String) throws(MessagingError) -> JSONValue? {
        switch type {
        case .string:
            guard case .string(let text) = value else { throw .wrongType("TYPE_STRING", value, at: path()) }
            // One expression with `value` would convert nil to JSON's null.
            guard !text.isEmpty else { return nil }
            return value
        case .bool:
            guard case .bool = value else { throw .wrongType("TYPE_BOOL", value, at: path()) }
            return value
        case .int32: return try number32(value, at: path())
        case .float: return try float(value, at: path())
        case .duration: return try duration(value, at: path())
        case .timestamp:
            guard case .string(let text) = value, Timestamp(text) != nil else {
                throw .wrongType("type.googleapis.com/google.protobuf.Timestamp", value, at: path())
            }
            return value
        case .enumeration(let enumeration): return try name(value, of: enumeration, at: path())
        case .stringMap: return try stringMap(value, at: path())
        case .structure:
            guard case .object = value else { throw .wrongType("type.googleapis.com/google.protobuf.Struct", value, at: path()) }
            return value
        case .message(let schema): return .object(try message(value, schema, at: path()))
        case .list(let element): return try list(value, element, at: path())
        }
    }

    // MARK: Numbers and times

    private static func number32(_ value: JSONValue, at path: @autoclosure () -> String) throws(MessagingError) -> JSONValue {
        let number: Int? = if case .string(let text) = value { decimal(text) } else { value.int }
        guard let number, let exact = Int32(exactly: number) else { throw .wrongType("TYPE_INT32", value, at: path()) }
        return .int(Int64(exact))
    }

    /// Parses an integer. `Int(_:)` alone would accept a leading plus.
    private static func decimal(_ text: String) -> Int? { text.utf8.first == UInt8(ascii: "+") ? nil : Int(text) }

    private static func float(_ value: JSONValue, at path: @autoclosure () -> String) throws(MessagingError) -> JSONValue {
        let number: Double? = if case .string(let text) = value { Double(text) } else { value.double }
        guard let number, number.isFinite else { throw .wrongType("TYPE_FLOAT", value, at: path()) }
        return .double(number)
    }

    private static func duration(_ value: JSONValue, at path: @autoclosure () -> String) throws(MessagingError) -> JSONValue {
        let type = "type.googleapis.com/google.protobuf.Duration"
        guard case .string(let text) = value else { throw .wrongType(type, value, at: path()) }
        guard ProtoDuration(text) != nil else {
            let name = path().split(separator: ".").last ?? ""
            let reason = text.utf8.last == UInt8(ascii: "s") ? "digits and at most nine fractional digits" : "duration must end with 's'"
            throw .wrongValue("(\(type)), Field '\(name)', Illegal duration format; \(reason)", at: path())
        }
        return value
    }

    private static func name(
        _ value: JSONValue, of enumeration: ProtoEnumeration, at path: @autoclosure () -> String
    ) throws(MessagingError) -> JSONValue {
        switch value {
        case .string(let text):
            if enumeration.values.contains(text) { return value }
            if let name = enumeration.aliases[text] { return .string(name) }
        default:
            if let number = value.int, enumeration.values.indices.contains(number) { return .string(enumeration.values[number]) }
        }
        throw .wrongType("type.googleapis.com/\(enumeration.name)", value, at: path())
    }

    // MARK: Containers

    private static func stringMap(_ value: JSONValue, at path: @autoclosure () -> String) throws(MessagingError) -> JSONValue {
        guard case .object(let members) = value else { throw .wrongType("TYPE_MESSAGE", value, at: path()) }
        var index = 0
        for (_, member) in members {
            guard case .string = member else { throw .wrongType("TYPE_STRING", member, at: "\(path())[\(index)].value") }
            index += 1
        }
        return value
    }

    private static func list(_ value: JSONValue, _ type: ProtoType, at path: @autoclosure () -> String) throws(MessagingError) -> JSONValue {
        guard case .array(let elements) = value else { throw .wrongType("TYPE_REPEATED", value, at: path()) }
        var result: [JSONValue] = []
        result.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            // An empty string is an element of a list, although it means absence as a field.
            result.append(try self.value(element, type, at: "\(path())[\(index)]") ?? element)
        }
        return .array(result)
    }
}
