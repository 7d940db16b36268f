/// The events that led to a write, the first one first. Empty for a write that no event caused.
///
/// A function that an event has triggered passes the chain on with its writes. A function that triggers itself repeatedly makes the chain
/// longer each time, by which loops are detected.
public struct EventChain: Sendable, Hashable {
    /// One event of a chain.
    public struct Link: Sendable, Hashable {
        /// The event's id.
        public var event: String
        /// The triggered function.
        public var function: String
        /// The path of the event.
        public var path: String

        /// Creates a link.
        public init(event: String, function: String, path: String) {
            self.event = event
            self.function = function
            self.path = path
        }
    }

    /// The number of events in the chain.
    public private(set) var depth: Int
    /// The newest events, at most ``linksMax``.
    public private(set) var links: [Link]

    /// The number of links that are stored: enough to show a cycle.
    public static let linksMax = 32

    /// Creates an empty chain.
    public init() {
        depth = 0
        links = []
    }

    /// Creates a chain with the given values.
    public init(depth: Int, links: [Link]) {
        self.depth = depth
        self.links = links
    }

    /// This chain with another event at its end.
    public func appending(_ link: Link) -> EventChain {
        EventChain(depth: depth + 1, links: links.suffix(Self.linksMax - 1) + CollectionOfOne(link))
    }
}

extension EventChain: CustomStringConvertible {
    /// `count at /a -> count at /b`. A chain without its first links begins with `...`.
    public var description: String {
        let shown = links.map { "\($0.function) at \($0.path)" }
        return (depth > links.count ? ["..."] + shown : shown).joined(separator: " -> ")
    }
}
