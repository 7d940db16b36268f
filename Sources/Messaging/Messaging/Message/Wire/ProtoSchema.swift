/// What a field of a message on the wire may hold (proto3).
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

/// The names of an enumeration in the order of their numbers, which begin with 0.
struct ProtoEnumeration: Sendable {
    /// Its full name, for errors.
    let name: String
    let values: [String]
    /// Further spellings that are taken.
    var aliases: [String: String] = [:]
}

/// The fields of one kind of message, found under both of their spellings: `collapse_key` and `collapseKey`.
final class ProtoSchema: Sendable {
    struct Field: Sendable {
        /// In snake case, as paths name it.
        let name: String
        let type: ProtoType
        /// Whether it is one of those of which only one may be set.
        let isTarget: Bool
        /// Whether a document can have it twice without having one name twice.
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
