/// A part of a path with the name that a pattern gives it.
public struct EventParameter: Sendable, Hashable {
    /// The name in braces.
    public var name: String
    /// The key in its place, or several keys separated by `/`.
    public var value: String

    /// Creates a parameter.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
