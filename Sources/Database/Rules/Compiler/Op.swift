/// One operator of a compiled expression. Operands are the indices of other operators or of a table of the program.
struct Op {
    enum Code: UInt8 {
        // Values.
        case null
        /// a: 0 or 1.
        case boolean
        /// a: number.
        case number
        /// a: string.
        case string
        case auth
        case authUID
        /// a: list of names.
        case authPath
        /// a: value, b: string.
        case member
        /// a: value, b: value.
        case subscripted
        case now
        /// a: the depth of the key that it captures.
        case capture
        /// a: `QueryField`.
        case queryField
        /// a: place.
        case val
        /// a: place.
        case priority
        /// a: condition, b, c: results, which may be places.
        case conditional
        /// a, b: values.
        case add, subtract, multiply, divide, remainder
        /// a: value.
        case negate, length, lowercased, uppercased
        /// a, b, c: values.
        case replace

        // Conditions.
        /// a: the start in the table of operands, b: their number.
        case and, or
        /// a: condition.
        case not
        /// a, b: values.
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        /// a: place.
        case exists, isAbsent, hasChildren, isNumber, isString, isBoolean
        /// a: place, b: the start in the table of operands, c: their number.
        case hasChildrenNamed
        /// a, b: values.
        case contains, beginsWith, endsWith
        /// a: value, b: pattern.
        case matches

        // Places.
        /// a: `Base`, b: levels up, c: path or -1.
        case place
        /// a: place, b: value.
        case child
        /// a: place.
        case parent
    }

    /// The starting point of a place.
    enum Base: Int32 {
        case root
        case data
        case newData
    }

    /// Members of `query`.
    enum QueryField: Int32 {
        case orderByChild, orderByKey, orderByValue, orderByPriority
        case startAt, endAt, equalTo
        case limitToFirst, limitToLast

        init?(_ name: String) {
            switch name {
            case "orderByChild": self = .orderByChild
            case "orderByKey": self = .orderByKey
            case "orderByValue": self = .orderByValue
            case "orderByPriority": self = .orderByPriority
            case "startAt": self = .startAt
            case "endAt": self = .endAt
            case "equalTo": self = .equalTo
            case "limitToFirst": self = .limitToFirst
            case "limitToLast": self = .limitToLast
            default: return nil
            }
        }

        var type: StaticType {
            switch self {
            case .orderByChild: .ordering
            case .orderByKey, .orderByValue, .orderByPriority: .boolean
            case .startAt, .endAt, .equalTo, .limitToFirst, .limitToLast: .value
            }
        }
    }

    var code: Code
    var a: Int32 = 0
    var b: Int32 = 0
    var c: Int32 = 0
}
