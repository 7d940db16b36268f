/// The type of a field in proto3.
indirect enum ProtoType: Sendable {
    case string
    case bool
    case int32
    case float
    case duration
    case timestamp
    case enumeration(ProtoEnumeration)
    /// `map<string, string>`.
    case stringMap
    /// `google.protobuf.Struct`: any JSON object.
    case structure
    case message(ProtoSchema)
    case list(ProtoType)
}

/// An enumeration. The values are in the order of their numbers, from 0.
struct ProtoEnumeration: Sendable {
    /// The full name, for errors.
    let name: String
    let values: [String]
    /// Further accepted spellings.
    var aliases: [String: String] = [:]
}

/// The fields of a message type, found by both spellings: `collapse_key` and `collapseKey`.
final class ProtoSchema: Sendable {
    struct Field: Sendable {
        /// The name in snake case, as in paths.
        let name: String
        let type: ProtoType
        /// Whether it is one of the targets, of which only one may be set.
        let isTarget: Bool
        /// Whether its spellings differ, so that a document can have the field twice under different names.
        let hasTwoSpellings: Bool
    }

    private let fields: [String: Field]

    init(_ types: KeyValuePairs<String, ProtoType>, targets: Set<String> = []) {
        var fields: [String: Field] = [:]
        for (name, type) in types {
            let other = Self.camelCase(name)
            let field = Field(name: name, type: type, isTarget: targets.contains(name), hasTwoSpellings: other != name)
            fields[name] = field
            fields[other] = field
        }
        self.fields = fields
    }

    func field(_ name: String) -> Field? { fields[name] }

    private static func camelCase(_ name: String) -> String {
        var text = ""
        var raisesNext = false
        for letter in name {
            if letter == "_" {
                raisesNext = true
            } else {
                text += raisesNext ? letter.uppercased() : String(letter)
                raisesNext = false
            }
        }
        return text
    }
}
