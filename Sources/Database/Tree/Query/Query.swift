/// A selection of children of a node, with their order (spec database 1.4, 1.5, 2.3).
public struct Query: Sendable, Hashable {
    /// The sort criterion; ties are ordered by key.
    public enum Order: Sendable, Hashable {
        case key
        case value
        case priority
        /// The value at a path below each child.
        case child(Path)
    }

    /// The key of a bound among the children with one sort value: before the first, after the last, or a certain one.
    public enum KeyBound: Sendable, Hashable {
        /// Before the first child with that value.
        case min
        /// After the last child with that value.
        case max
        /// At the child with that value and this key.
        case key(String)

        public static func == (left: KeyBound, right: KeyBound) -> Bool {
            switch (left, right) {
            case (.min, .min), (.max, .max): true
            case (.key(let left), .key(let right)): TextOrder.equal(left, right)
            default: false
            }
        }

        public func hash(into hasher: inout Hasher) {
            switch self {
            case .min: hasher.combine(0)
            case .max: hasher.combine(1)
            case .key(let key): TextOrder.hash(key, into: &hasher)
            }
        }
    }

    /// An end of a range. In key order only `value` counts, which then holds the key as a string.
    public struct Bound: Sendable, Hashable {
        /// The sort value of the bound.
        public var value: IndexValue
        /// The key of the bound among the children with that value.
        public var key: KeyBound
        /// Whether a child exactly at the bound belongs to the range.
        public var isInclusive: Bool

        /// A bound; the functions below make those of requests.
        public init(value: IndexValue, key: KeyBound, isInclusive: Bool = true) {
            self.value = value
            self.key = key
            self.isInclusive = isInclusive
        }

        /// From the first child with `value`, or from the one under `key`.
        public static func startAt(_ value: IndexValue, key: String? = nil) -> Bound {
            Bound(value: value, key: key.map { .key($0) } ?? .min)
        }

        /// After the last child with `value`, or after the one under `key`.
        public static func startAfter(_ value: IndexValue, key: String? = nil) -> Bound {
            Bound(value: value, key: key.map { .key($0) } ?? .max, isInclusive: false)
        }

        /// Up to the last child with `value`, or up to the one under `key`.
        public static func endAt(_ value: IndexValue, key: String? = nil) -> Bound {
            Bound(value: value, key: key.map { .key($0) } ?? .max)
        }

        /// Before the first child with `value`, or before the one under `key`.
        public static func endBefore(_ value: IndexValue, key: String? = nil) -> Bound {
            Bound(value: value, key: key.map { .key($0) } ?? .min, isInclusive: false)
        }
    }

    /// The order of the children.
    public var order = Order.priority
    /// The start of the range; nil for the first child.
    public var start: Bound?
    /// The end of the range; nil for the last child.
    public var end: Bound?
    /// The most children, applied after the range.
    public var limit: Int?
    /// Whether the limit counts from the end.
    public var anchorsLast = false

    /// A query for all children by priority, unless parameters say otherwise.
    public init(
        order: Order = .priority, start: Bound? = nil, end: Bound? = nil, limit: Int? = nil, anchorsLast: Bool = false
    ) {
        self.order = order
        self.start = start
        self.end = end
        self.limit = limit
        self.anchorsLast = anchorsLast
    }

    /// Whether every child is selected, so that the query only sorts.
    public var takesAll: Bool { start == nil && end == nil && limit == nil }

    /// Whether the query selects the whole node in the default order.
    public var isDefault: Bool { order == .priority && takesAll }
}
