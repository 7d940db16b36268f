/// How large a written value may be (spec database 1.1).
public struct DraftLimits: Sendable, Hashable {
    /// The greatest length of a string in UTF-8.
    public var stringBytesMax = 10 * 1024 * 1024
    /// The greatest length of a key in UTF-8.
    public var keyBytesMax = Path.keyBytesMax
    /// The greatest depth of what is written, counted from the root.
    public var depthMax = Path.depthMax
    /// The most values, containers and what is left out included: each takes memory, however short its text.
    public var nodesMax = Int.max
    /// How deep the place is where the body is written: the count of its path.
    public var depthAbove = 0

    /// The limits of a body that is written at the root.
    public init() {}

    /// The limits of a body that is written at a path of so many keys.
    public init(depthAbove: Int) { self.depthAbove = depthAbove }
}
