/// Functions whose names begin alike: `Group("chat") { OnCall("send") ... }` defines `chat-send`.
///
/// Groups nest, and a deploy can name one as a whole.
public struct Group: FunctionsContent {
    /// The functions in it, renamed.
    public let definitions: [FunctionDefinition]

    /// Puts `name` and a dash before the name of each function in `content`.
    public init(_ name: String, @FunctionsBuilder _ content: () -> [FunctionDefinition]) {
        self.definitions = content().map { inner in
            var definition = inner
            definition.path.insert(name, at: 0)
            return definition
        }
    }
}
