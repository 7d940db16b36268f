import HearthJSON

/// Converts the protocol's wrappers of 64-bit integers (spec functions 4). Clients with such a type send
/// `{"@type": "type.googleapis.com/google.protobuf.Int64Value", "value": "1"}` for 1, and expect this form in answers for integers that a
/// double cannot represent. Plugins get and return plain integers.
enum IntegerWrappers {
    private static let signed = "type.googleapis.com/google.protobuf.Int64Value"
    private static let unsigned = "type.googleapis.com/google.protobuf.UInt64Value"
    /// The largest integer up to which a double represents every integer: 2^53 - 1.
    private static let safeMax: UInt64 = (1 << 53) - 1

    /// Replaces each wrapper in `value` by its integer. Objects with another `@type` stay as they are.
    ///
    /// - Returns: nil if a wrapper has no `value`, or one that is not an integer of its type.
    static func unwrap(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .array(let elements):
            var plain: [JSONValue] = []
            plain.reserveCapacity(elements.count)
            for element in elements {
                guard let element = unwrap(element) else { return nil }
                plain.append(element)
            }
            return .array(plain)
        case .object(let object):
            switch object["@type"]?.string {
            case signed: return integer(object["value"], Int64.self).map { .int($0) }
            case unsigned: return integer(object["value"], UInt64.self).map { JSONValue($0) }
            default: break
            }
            var plain = JSONObject()
            for (key, member) in object {
                guard let member = unwrap(member) else { return nil }
                plain[key] = member
            }
            return .object(plain)
        default: return value
        }
    }

    private static func integer<T: FixedWidthInteger>(_ value: JSONValue?, _ type: T.Type) -> T? {
        switch value {
        case .string(let text): T(text)
        case .int(let number): T(exactly: number)
        case .uint(let number): T(exactly: number)
        case .double(let number): T(exactly: number)
        default: nil
        }
    }

    /// Wraps each integer in `value` whose magnitude is above 2^53 - 1.
    static func wrap(_ value: JSONValue) -> JSONValue {
        switch value {
        case .int(let number) where number.magnitude > safeMax: wrapper(signed, "\(number)")
        case .uint(let number) where number > safeMax: wrapper(unsigned, "\(number)")
        case .array(let elements): .array(elements.map(wrap))
        case .object(let object): .object(JSONObject(object.map { ($0.key, wrap($0.value)) }))
        default: value
        }
    }

    private static func wrapper(_ type: String, _ digits: String) -> JSONValue {
        .object(["@type": .string(type), "value": .string(digits)])
    }
}
