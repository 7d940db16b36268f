/// The events that led to a write, the first one first: empty for a write that no event caused.
///
/// A function that runs because of an event and writes hands the chain on; a function that runs itself again and again makes
/// a longer one each time, which is how loops are found.
public struct EventChain: Sendable, Hashable {
    /// One event of a chain.
    public struct Link: Sendable, Hashable {
        /// The event's id.
        public var event: String
        /// The function that it ran.
        public var function: String
        /// The path that the event was of.
        public var path: String

        /// One event of a chain.
        public init(event: String, function: String, path: String) {
            self.event = event
            self.function = function
            self.path = path
        }
    }

    /// How many events led here.
    public private(set) var depth: Int
    /// The newest of them, at most ``linksMax``.
    public private(set) var links: [Link]

    /// How many links are kept: enough to see the cycle in.
    public static let linksMax = 32

    /// No event led here.
    public init() {
        depth = 0
        links = []
    }

    /// A chain as it was told.
    public init(depth: Int, links: [Link]) {
        self.depth = depth
        self.links = links
    }

    /// This chain and one event more.
    public func appending(_ link: Link) -> EventChain {
        EventChain(depth: depth + 1, links: links.suffix(Self.linksMax - 1) + CollectionOfOne(link))
    }
}

extension EventChain: CustomStringConvertible {
    /// `count at /a -> count at /b`; a chain whose beginning is not kept starts with `...`.
    public var description: String {
        let shown = links.map { "\($0.function) at \($0.path)" }
        return (depth > links.count ? ["..."] + shown : shown).joined(separator: " -> ")
    }
}
