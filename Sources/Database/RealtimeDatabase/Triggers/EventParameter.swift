/// A part of a path that a pattern gave a name to.
public struct EventParameter: Sendable, Hashable {
    /// The name between the braces.
    public var name: String
    /// The key that stood there, or several with `/` between.
    public var value: String

    /// A named part of a path.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
