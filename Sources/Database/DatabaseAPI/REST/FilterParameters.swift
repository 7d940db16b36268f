import HearthBytes
import HearthJSON
import Tree

/// The unparsed `orderBy`, bounds and limits of a read. A query is made when all of them are known.
struct FilterParameters: Equatable {
    private var orderBy: [UInt8]?
    private var startAt: [UInt8]?
    private var startAfter: [UInt8]?
    private var endAt: [UInt8]?
    private var endBefore: [UInt8]?
    private var equalTo: [UInt8]?
    private var limitToFirst: [UInt8]?
    private var limitToLast: [UInt8]?

    /// Stores a parameter.
    ///
    /// - Returns: false for any other parameter.
    mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) -> Bool {
        if name.equals("orderBy") {
            orderBy = try RESTParameters.decoded(name, value)
        } else if name.equals("startAt") {
            startAt = try RESTParameters.decoded(name, value)
        } else if name.equals("startAfter") {
            startAfter = try RESTParameters.decoded(name, value)
        } else if name.equals("endAt") {
            endAt = try RESTParameters.decoded(name, value)
        } else if name.equals("endBefore") {
            endBefore = try RESTParameters.decoded(name, value)
        } else if name.equals("equalTo") {
            equalTo = try RESTParameters.decoded(name, value)
        } else if name.equals("limitToFirst") {
            limitToFirst = try RESTParameters.decoded(name, value)
        } else if name.equals("limitToLast") {
            limitToLast = try RESTParameters.decoded(name, value)
        } else {
            return false
        }
        return true
    }

    // MARK: Shallow reads

    /// The page of a shallow read: the number of keys, and the key after which it begins. The keys are plain, in key order, as the official
    /// command line sends them.
    func shallowPage() throws(RESTError) -> (limit: Int?, startAfter: String?) {
        guard orderBy == nil, startAt == nil, endAt == nil, endBefore == nil, equalTo == nil, limitToLast == nil else {
            throw .shallowMix
        }
        let limit = limitToFirst
        return (
            limit == nil ? nil : try Self.count(limit ?? [], "limitToFirst"),
            startAfter.map { String(decoding: $0, as: UTF8.self) }
        )
    }

    // MARK: Queries

    /// The query that the parameters describe (spec database 1.5).
    func query() throws(RESTError) -> Query {
        guard let orderBy else { throw .badRequest("orderBy must be defined when other query parameters are defined") }
        var query = Query()
        query.order = try Self.order(orderBy)
        if let equalTo {
            guard startAt == nil, startAfter == nil, endAt == nil, endBefore == nil else {
                throw .badRequest("equalTo cannot be specified in addition to startAt or endAt")
            }
            let bound = try Constraint(equalTo, order: query.order)
            query.start = bound.position(orKey: .min, isInclusive: true)
            query.end = bound.position(orKey: .max, isInclusive: true)
        } else {
            query.start = try start(query.order)
            query.end = try end(query.order)
        }
        if let limitToFirst {
            guard limitToLast == nil else { throw .badRequest("limitToFirst and limitToLast cannot be specified together") }
            query.limit = try Self.count(limitToFirst, "limitToFirst")
        } else if let limitToLast {
            query.limit = try Self.count(limitToLast, "limitToLast")
            query.anchorsLast = true
        }
        return query
    }

    private func start(_ order: Query.Order) throws(RESTError) -> Query.Bound? {
        if let startAt {
            guard startAfter == nil else { throw .badRequest("startAt and startAfter cannot be specified together") }
            return try Constraint(startAt, order: order).position(orKey: .min, isInclusive: true)
        }
        guard let startAfter else { return nil }
        return try Constraint(startAfter, order: order).position(orKey: .max, isInclusive: false)
    }

    private func end(_ order: Query.Order) throws(RESTError) -> Query.Bound? {
        if let endAt {
            guard endBefore == nil else { throw .badRequest("endAt and endBefore cannot be specified together") }
            return try Constraint(endAt, order: order).position(orKey: .max, isInclusive: true)
        }
        guard let endBefore else { return nil }
        return try Constraint(endBefore, order: order).position(orKey: .min, isInclusive: false)
    }

    /// `"$key"`, `"$value"`, `"$priority"` or a path to a child, as a JSON string.
    private static func order(_ text: [UInt8]) throws(RESTError) -> Query.Order {
        guard case .string(let name)? = try? JSONValue(parsing: text.span) else {
            throw .badRequest("orderBy must be a valid JSON encoded path")
        }
        switch name {
        case "$key": return .key
        case "$value": return .value
        case "$priority": return .priority
        default:
            guard let path = try? Path(parsing: name), !path.isRoot else {
                throw .badRequest("orderBy must be a valid JSON encoded path")
            }
            return .child(path)
        }
    }

    private static func count(_ text: [UInt8], _ name: StaticString) throws(RESTError) -> Int {
        let isNumber = !text.isEmpty && text.count <= 18 && text.allSatisfy { (48...57).contains($0) }
        let value = isNumber ? text.reduce(0) { $0 * 10 + Int($1 - 48) } : 0
        guard value > 0 else { throw .badRequest("\(name) must be a positive integer") }
        return value
    }
}

extension RESTError {
    /// A shallow read has no query (spec database 2.3).
    static let shallowMix = badRequest("This request mixes query parameters with a shallow GET.")
}

/// A bound as it is written: a JSON primitive, and optionally the key of a child among those with the same value.
private struct Constraint {
    var value: IndexValue
    var key: String?

    init(_ text: [UInt8], order: Query.Order) throws(RESTError) {
        // In brackets, the text is an array of one or two values, which the parser can separate.
        let list = [UInt8(ascii: "[")] + text + [UInt8(ascii: "]")]
        guard case .array(let parts)? = try? JSONValue(parsing: list.span), let first = parts.first, let value = IndexValue(bound: first)
        else { throw .badRequest("Constraint index field must be a JSON primitive") }
        if parts.count == 2, case .string(let key) = parts[1] {
            self.key = key
        } else if parts.count > 1 {
            throw .badRequest("Constraint key field must be a string")
        }
        self.value = value
        if case .priority = order {
            switch value {
            case .null, .number, .string: return
            case .false, .true, .object: throw .badRequest("Constraint index field must be a number or a string when ordering by priority")
            }
        }
    }

    func position(orKey end: Query.KeyBound, isInclusive: Bool) -> Query.Bound {
        Query.Bound(value: value, key: key.map { .key($0) } ?? end, isInclusive: isInclusive)
    }
}

extension IndexValue {
    /// The position of a JSON primitive in the order of values; nil for anything else.
    init?(bound value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let isTrue): self = isTrue ? .true : .false
        case .int(let number): self = .number(Double(number))
        case .uint(let number): self = .number(Double(number))
        case .double(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .array, .object: return nil
        }
    }
}
