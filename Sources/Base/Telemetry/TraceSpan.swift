public import HTTP

/// An operation of a trace, for export: what was done, when, for how long, and how it ended.
public struct TraceSpan: Sendable {
    /// The role of the operation, with the numbers of OpenTelemetry's protocol.
    public enum Kind: Int, Sendable {
        /// Work inside the host.
        case `internal` = 1
        /// The answer to a request.
        case server = 2
        /// A request to another system, or to a service.
        case client = 3
        /// The processing of an event.
        case consumer = 5
    }

    /// The value of an attribute.
    public enum Value: Sendable, Equatable {
        /// A text.
        case text(String)
        /// A number.
        case integer(Int)
        /// Yes or no.
        case flag(Bool)
        /// Seconds.
        case seconds(Double)
    }

    /// The operation's own context, with its parent.
    public var context: TraceContext
    /// For example the name of a function.
    public var name: String
    /// The role of the operation.
    public var kind: Kind
    /// When it ended, in nanoseconds since 1970.
    public var endNanoseconds: UInt64
    /// How long it took.
    public var nanoseconds: UInt64
    /// The facts about it.
    public var attributes: [(name: StaticString, value: Value)]
    /// The reason of a failure; nil unless the operation failed for a reason of the host or the function.
    public var failure: String?

    /// A span.
    public init(
        _ context: TraceContext, name: String, kind: Kind, endNanoseconds: UInt64, nanoseconds: UInt64,
        attributes: [(name: StaticString, value: Value)] = [], failure: String? = nil
    ) {
        self.context = context
        self.name = name
        self.kind = kind
        self.endNanoseconds = endNanoseconds
        self.nanoseconds = nanoseconds
        self.attributes = attributes
        self.failure = failure
    }
}
