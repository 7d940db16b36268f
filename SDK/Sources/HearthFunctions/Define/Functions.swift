/// All functions of a plugin.
///
/// A plugin declares one global of this type, called `functions`:
///
///     import HearthFunctions
///
///     let functions = Functions {
///         OnCall("hello") { (request: CallableRequest<JSONValue>) in "Hello, \(request.auth?.uid ?? "stranger")" }
///         OnRequest("status") { request in Response(json: ["ok": true]) }
///     }
///
/// The build plugin `HearthEntryPoint` adds the library's entry point, which looks for that name.
public struct Functions: Sendable {
    let definitions: [FunctionDefinition]
    let params: [any FunctionParam]

    /// - Parameters:
    ///   - defaults: options of every function that does not give its own; labels of both are merged.
    ///   - params: the parameters that the functions read, so that the host knows of them. Secrets that a function lists
    ///     among its `secrets` need no mention here.
    ///   - content: `OnCall`, `OnRequest`, `OnValueCreated` and the like, and `Group`, one after the other.
    public init(
        defaults: Options = Options(), params: [any FunctionParam] = [], @FunctionsBuilder _ content: () -> [FunctionDefinition]
    ) {
        self.definitions = content().map { $0.applying(defaults: defaults) }
        self.params = params
    }
}

/// A part between the braces of `Functions` or `Group`.
public protocol FunctionsContent {
    /// The functions of this part.
    var definitions: [FunctionDefinition] { get }
}

/// Gathers the functions between the braces of `Functions` and `Group`; `if` and `for` work there too.
///
/// Functions of another file are added by a property:
///
///     @FunctionsBuilder var chat: [FunctionDefinition] {
///         OnCall("send") { ... }
///         OnCall("leave") { ... }
///     }
///
///     let functions = Functions { chat }
@resultBuilder
public enum FunctionsBuilder {
    /// One `OnCall`, `OnRequest`, `Group` or the like.
    public static func buildExpression(_ content: some FunctionsContent) -> [FunctionDefinition] { content.definitions }
    /// A property that gathers functions itself.
    public static func buildExpression(_ definitions: [FunctionDefinition]) -> [FunctionDefinition] { definitions }
    /// The first part between the braces.
    public static func buildPartialBlock(first: [FunctionDefinition]) -> [FunctionDefinition] { first }
    /// The parts so far, and the next one. Functions keep this order.
    public static func buildPartialBlock(
        accumulated: [FunctionDefinition], next: [FunctionDefinition]
    ) -> [FunctionDefinition] { accumulated + next }
    /// An `if` without `else`; no functions where it does not hold.
    public static func buildOptional(_ part: [FunctionDefinition]?) -> [FunctionDefinition] { part ?? [] }
    /// The first branch of an `if` with `else`, or of a `switch`.
    public static func buildEither(first: [FunctionDefinition]) -> [FunctionDefinition] { first }
    /// The other branch.
    public static func buildEither(second: [FunctionDefinition]) -> [FunctionDefinition] { second }
    /// A `for`: the functions of all rounds.
    public static func buildArray(_ parts: [[FunctionDefinition]]) -> [FunctionDefinition] { parts.flatMap { $0 } }
}

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

/// One function: its name, its options and its code.
public struct FunctionDefinition: Sendable {
    /// The names of the groups around it, then its own.
    var path: [String]
    var options: Options
    let trigger: Trigger
    var generation = Generation.second
    /// The mistakes in what the function is made of, such as its routes; each is a phrase.
    var problemsOfContent: [String] = []
    let handler: FunctionHandler

    enum Trigger: Sendable {
        case callable, http
        case database(DatabaseTrigger)
        case user(AuthTrigger)
        case blocking(BlockingDefinition)
        case schedule(ScheduleDefinition)
        case taskQueue(TaskQueueDefinition)
    }

    /// The name for clients: group and name joined by a dash.
    var name: String { path.joined(separator: "-") }

    /// The entry point for the Firebase tools: group and name joined by a dot.
    var entryPoint: String { path.joined(separator: ".") }

    func applying(defaults: Options) -> FunctionDefinition {
        var merged = self
        merged.options = options.filled(from: defaults.limited(to: trigger))
        return merged
    }
}
