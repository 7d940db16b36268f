/// Functions whose names begin alike: `Group("chat") { OnCall("send") ... }` defines `chat-send`.
///
/// Groups nest, and a deploy can name one as a whole.
public struct Group: FunctionsContent {
    public let definitions: [FunctionDefinition]

    public init(_ name: String, @FunctionsBuilder _ content: () -> [FunctionDefinition]) {
        self.definitions = content().map { inner in
            var definition = inner
            definition.path.insert(name, at: 0)
            return definition
        }
    }
}
