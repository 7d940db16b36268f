/// Options that `functions.json` gives to one function, or to all of them. Nil leaves an option as the code has it.
public struct FunctionOverrides: Sendable, Equatable {
    public var regions: [String]?
    public var memoryBytes: Int?
    public var timeoutSeconds: Double?
    public var cpu: ProcessorShare?
    public var concurrency: Int?
    public var minInstances: Int?
    public var maxInstances: Int?
    public var enforceAppCheck: Bool?
    public var consumeAppCheckToken: Bool?
    public var cors: CORSPolicy?
    public var heartbeat: Heartbeat?
    public var heartbeatStyle: HeartbeatStyle?
    /// Added to the secrets that the code names.
    public var secrets: [String] = []
    /// Added to the labels that the code gives.
    public var labels: [String: String] = [:]
    public var omit: Bool?
    public var ingress: Ingress?
    public var invoker: Invoker?
    public var retry: Bool?

    /// Where each option stands in the file, by its key, for what is found out only when the plugin is loaded.
    var positions: [String: Position?] = [:]

    /// No override at all.
    public init() {}
}

/// How much of the machine's processors a worker is planned with.
public enum ProcessorShare: Sendable, Equatable {
    case processors(Double)
    /// What the first generation gave to the function's memory.
    case firstGeneration
}

/// When a streaming answer sends a sign of life.
public enum Heartbeat: Sendable, Equatable {
    case never
    case every(seconds: Double)

    /// Zero, negative and nil are never.
    init(seconds: Double?) {
        if let seconds, seconds > 0 { self = .every(seconds: seconds) } else { self = .never }
    }
}

/// What the sign of life is made of (spec functions 6.1).
public enum HeartbeatStyle: String, Sendable {
    case padding
    case comment
    case off
}

/// Where calls of a function may come from.
public enum Ingress: String, Sendable {
    case all = "ALLOW_ALL"
    case internalOnly = "ALLOW_INTERNAL_ONLY"
    case internalAndLoadBalancer = "ALLOW_INTERNAL_AND_GCLB"
}

/// Who may call an HTTP function.
public enum Invoker: Sendable, Equatable {
    case everybody
    case nobody
    case accounts([String])

    /// Why names do not go together, or nil.
    static func refusal(of names: [String]) -> String? {
        guard names.count > 1, let word = names.first(where: { $0 == "public" || $0 == "private" }) else { return nil }
        return "\(word.quoted) stands alone, not in a list of several"
    }

    /// - Parameter names: `public`, `private`, or accounts.
    init(names: [String]) {
        switch names {
        case ["public"]: self = .everybody
        case ["private"]: self = .nobody
        default: self = .accounts(names)
        }
    }
}
