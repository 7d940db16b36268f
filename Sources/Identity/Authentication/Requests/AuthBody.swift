import Accounts
import HearthJSON
import HTTP

/// The body of a request: a JSON object whose names may be in camel or snake case.
struct AuthBody {
    let object: JSONObject

    private static let limits = JSONLimits(depthMax: 64)

    /// Parses a body. An empty one counts as an empty object.
    init(_ bytes: Span<UInt8>) throws(AuthError) {
        guard bytes.count > 0 else {
            object = JSONObject()
            return
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, limits: Self.limits)
        } catch {
            throw AuthError(
                "Invalid JSON payload received. \(error.message)", status: 400, statusName: "INVALID_ARGUMENT", reason: "parseError")
        }
        guard let members = Self.camelCased(value).object else { throw Self.invalid("the root element must be an object") }
        object = members
    }

    init(_ object: JSONObject) { self.object = object }

    /// Reads a form.
    init(form: FormText) { object = JSONObject(form.values.map { (Self.camelCased($0.key), .string($0.value)) }) }

    /// Members whose own members have names that the client chooses: `access_type` is a parameter of a provider, no field.
    private static let namedByClient: Set<String> = ["customParameter", "testPhoneNumbers"]

    private static func camelCased(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(
                JSONObject(
                    members.map { member in
                        let name = camelCased(member.key)
                        return (name, namedByClient.contains(name) ? member.value : camelCased(member.value))
                    }))
        case .array(let elements): .array(elements.map { camelCased($0) })
        default: value
        }
    }

    private static func camelCased(_ name: String) -> String {
        guard name.utf8.contains(UInt8(ascii: "_")) else { return name }
        let parts = name.split(separator: "_")
        guard let first = parts.first else { return name }
        return String(first) + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    static func invalid(_ what: String) -> AuthError {
        AuthError("Invalid JSON payload received. \(what)", status: 400, statusName: "INVALID_ARGUMENT")
    }

    // MARK: Members

    /// Whether a member is present and not null.
    func has(_ name: String) -> Bool { object[name].map { !$0.isNull } ?? false }

    private func read<R>(_ name: String, _ type: String, _ convert: (JSONValue) -> R?) throws(AuthError) -> R? {
        guard let value = object[name], !value.isNull else { return nil }
        guard let converted = convert(value) else { throw Self.invalid("/\(name) must be \(type)") }
        return converted
    }

    /// The most Unicode scalars of texts that are stored as they are sent.
    private static let bounds = [
        "displayName": 256, "screenName": 256, "mfaEnrollmentId": 256, "photoUrl": 2048, "providerId": 256, "rawId": 1024, "federatedId": 1024,
        "passwordHash": 8192, "salt": 8192,
    ]

    func string(_ name: String) throws(AuthError) -> String? {
        let text = try read(name, "string", \.string)
        if let text, let bound = Self.bounds[name], text.utf8.count > bound, text.unicodeScalars.count > bound {
            throw Self.invalid("/\(name) must have at most \(bound) characters")
        }
        return text
    }

    /// The first text of these names that is not empty.
    func text(_ names: String...) throws(AuthError) -> String? {
        for name in names { if let text = try string(name), !text.isEmpty { return text } }
        return nil
    }

    func bool(_ name: String) throws(AuthError) -> Bool? { try read(name, "boolean", \.bool) }

    /// A whole number, also as a text.
    func integer(_ name: String) throws(AuthError) -> Int64? {
        try read(name, "integer") { value in
            if let text = value.string { return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.down)) } }
            return value.int.map(Int64.init) ?? value.double.flatMap { Int64(exactly: $0.rounded(.down)) }
        }
    }

    func strings(_ name: String) throws(AuthError) -> [String] {
        try read(name, "array") { value in
            guard let elements = value.array else { return nil }
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts : nil
        } ?? []
    }

    /// The objects of a list.
    func bodies(_ name: String) throws(AuthError) -> [AuthBody] {
        try read(name, "array") { value in
            guard let elements = value.array else { return nil }
            let objects = elements.compactMap(\.object).map { AuthBody($0) }
            return objects.count == elements.count ? objects : nil
        } ?? []
    }

    func body(_ name: String) throws(AuthError) -> AuthBody? {
        try read(name, "object", \.object).map { AuthBody($0) }
    }
}
