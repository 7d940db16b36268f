import HearthBytes
import HearthJSON
import Tree

/// The query of a listen or a read (spec database 3.6, 10.2).
struct LiveQuery: Sendable {
    /// The query; nil for the whole node. A query without range and limit is one for the whole node too.
    var query: Query?
    /// The JSON text of the query, as the client knows it; nil if it sent none.
    var text: [UInt8]?

    /// A listen or read of the whole node.
    static let whole = LiveQuery()

    private init() {}

    /// The most bytes of a query, which is kept as long as its listen.
    static let bytesMax = 64 * 1024

    /// - Parameter text: the member `q`.
    init(parsing text: Span<UInt8>) throws(LiveRefusal) {
        guard text.count <= Self.bytesMax else { throw .badRequest("the query \"q\" must have at most \(Self.bytesMax) bytes") }
        guard let parts = (try? JSONValue(parsing: text, limits: JSONLimits(depthMax: 4)))?.object else {
            throw .badRequest("the query \"q\" must be an object")
        }
        self.text = text.array()
        var query = Query()
        query.order = try Self.order(parts["i"])
        query.start = try Self.bound(parts, value: "sp", key: "sn", inclusion: "sin", order: query.order, isStart: true)
        query.end = try Self.bound(parts, value: "ep", key: "en", inclusion: "ein", order: query.order, isStart: false)
        if let limit = parts["l"], limit != .null {
            guard case .int(let count) = limit, count > 0, count <= Int32.max else {
                throw .badRequest("the limit \"l\" of a query must be a positive integer")
            }
            query.limit = Int(count)
            switch parts["vf"] {
            case .string("l"), .null, nil: break
            case .string("r"): query.anchorsLast = true
            default: throw .badRequest("\"vf\" of a query must be \"l\" or \"r\"")
            }
        }
        if !query.takesAll { self.query = query }
    }

    private static func order(_ index: JSONValue?) throws(LiveRefusal) -> Query.Order {
        guard let index, index != .null else { return .priority }
        guard let name = index.string else { throw .badRequest("the index \"i\" of a query must be a string") }
        switch name {
        case ".key": return .key
        case ".value": return .value
        case ".priority": return .priority
        default:
            guard let path = try? Path(parsing: name), !path.isRoot else {
                throw .badRequest("the index \"i\" of a query must be .key, .value, .priority or the path of a child")
            }
            return .child(path)
        }
    }

    /// A bound. `null` is a value; only an absent member is no bound.
    private static func bound(
        _ parts: JSONObject, value valueName: String, key keyName: String, inclusion: String, order: Query.Order, isStart: Bool
    ) throws(LiveRefusal) -> Query.Bound? {
        guard let raw = parts[valueName] else { return nil }
        guard let value = IndexValue(bound: raw) else { throw .badRequest("\"\(valueName)\" of a query must be a JSON primitive") }
        if case .priority = order {
            switch value {
            case .null, .number, .string: break
            case .false, .true, .object: throw .badRequest("\"\(valueName)\" of a query by priority must be null, a number or a string")
            }
        }
        var isInclusive = true
        switch parts[inclusion] {
        case .bool(let value): isInclusive = value
        case .null, nil: break
        default: throw .badRequest("\"\(inclusion)\" of a query must be true or false")
        }
        let key: Query.KeyBound
        switch parts[keyName] {
        case .string("[MIN_NAME]"): key = .min
        case .string("[MAX_NAME]"): key = .max
        case .string(let name): key = .key(name)
        // Without a key, the bound includes or excludes all children with its value.
        case .null, nil: key = isStart == isInclusive ? .min : .max
        default: throw .badRequest("\"\(keyName)\" of a query must be a string")
        }
        return Query.Bound(value: value, key: key, isInclusive: isInclusive)
    }
}
