import HearthJSON

/// The wire's wrappers for 64-bit integers (spec functions 4): clients that have such a type send
/// `{"@type": "type.googleapis.com/google.protobuf.Int64Value", "value": "1"}` for 1, and want the same back for what a
/// double cannot hold. A plugin sees plain integers only.
enum IntegerWrappers {
    private static let signed = "type.googleapis.com/google.protobuf.Int64Value"
    private static let unsigned = "type.googleapis.com/google.protobuf.UInt64Value"
    /// The largest integer that a double holds together with all below it: 2^53 - 1.
    private static let safeMax: UInt64 = (1 << 53) - 1

    /// `value` with each wrapper replaced by its integer; another `@type` stays what it is.
    ///
    /// - Returns: nil when a wrapper has no `value`, or one that is no integer of its type.
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

    /// `value` with each integer beyond 2^53 - 1 wrapped.
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
