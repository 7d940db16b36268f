/// Which children of a node, in which order (spec database 1.4, 1.5, 2.3).
public struct Query: Sendable, Hashable {
    /// What children are sorted by; ties are broken by key.
    public enum Order: Sendable, Hashable {
        case key
        case value
        case priority
        /// What is at a path below each child.
        case child(Path)
    }

    /// The key of a position: of all children with one value, before the first, after the last, or a certain one.
    public enum KeyBound: Sendable, Hashable {
        /// Before the first child of that value.
        case min
        /// After the last child of that value.
        case max
        /// At the child of that value under this key.
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

    /// An end of a range: a position in the order. In the order of keys only `value` counts, which is then the key as a string.
    public struct Bound: Sendable, Hashable {
        /// What the position's children are sorted by.
        public var value: IndexValue
        /// Where among the children of that value the position is.
        public var key: KeyBound
        /// Whether the child at the position belongs to the range.
        public var isInclusive: Bool

        /// A position; the functions below make those that requests ask for.
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

    /// What the children are sorted by.
    public var order = Order.priority
    /// Where the range begins; nil for the first child.
    public var start: Bound?
    /// Where it ends; nil for the last child.
    public var end: Bound?
    /// The greatest number of children, taken after the range.
    public var limit: Int?
    /// Whether the limit counts from the end.
    public var anchorsLast = false

    /// All children by their priorities, unless something else is said.
    public init(
        order: Order = .priority, start: Bound? = nil, end: Bound? = nil, limit: Int? = nil, anchorsLast: Bool = false
    ) {
        self.order = order
        self.start = start
        self.end = end
        self.limit = limit
        self.anchorsLast = anchorsLast
    }

    /// Whether every child is taken, so that only the order is asked for.
    public var takesAll: Bool { start == nil && end == nil && limit == nil }

    /// Whether this is the query that every node answers with itself.
    public var isDefault: Bool { order == .priority && takesAll }
}
