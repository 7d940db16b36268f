import HearthBytes
public import HTTP
public import Tree

/// An event that waits for its function: a row of the outbox, written in the same transaction as the write that raised it.
public struct OutboxEvent: Sendable, Hashable {
    /// The position in the order of the namespace's events.
    public var sequence: UInt64
    /// The id, which stays the same in repeated deliveries.
    public var id: String
    /// The namespace whose data has changed.
    public var namespace: String
    /// The function to run.
    public var function: String
    /// The kind in the function's declaration, for example `written` although the value was created.
    public var kind: TriggerKind
    /// The path of the changed value.
    public var path: Path
    /// The captured parameters, in the order of the pattern.
    public var params: [EventParameter]
    /// The function's input: `{"before":...,"after":...}`, or `{"truncated":true}` if the values are too large to be stored.
    public var payload: [UInt8]
    /// The time of the write, in milliseconds since 1970.
    public var time: Int64
    /// The writer.
    public var origin: EventOrigin
    /// The events that led to the write.
    public var chain: EventChain
    /// The trace context of the write, which the function's run continues.
    public var trace: TraceContext?
    /// The progress of the delivery.
    public var progress: DeliveryProgress

    /// The chain of the function's writes because of this event.
    public var chainOfEffects: EventChain {
        chain.appending(EventChain.Link(event: id, function: function, path: path.description))
    }

    /// The key of its row in the outbox.
    public var key: EventKey { EventKey(function: function, sequence: sequence) }
}

/// The progress of an event's delivery.
public struct DeliveryProgress: Sendable, Hashable {
    /// The number of failed attempts.
    public var attempts = 0
    /// The number of attempts in which the worker ended before it answered.
    public var interruptions = 0
    /// The time from which on the event's age is counted, in milliseconds since 1970.
    public var since: Int64
    /// The earliest time of the next attempt, in milliseconds since 1970.
    public var notBefore: Int64 = 0
    /// The error of the last attempt.
    public var lastError: String?

    /// Creates the progress of an event without attempts.
    public init(since: Int64) { self.since = since }
}

/// The key of a row of the outbox. Rows are sorted by function, so that a failing function does not delay others.
public struct EventKey: Sendable, Hashable {
    /// The function to run.
    public var function: String
    /// The event's position in the order of the namespace's events.
    public var sequence: UInt64

    /// Creates a key.
    public init(function: String, sequence: UInt64) {
        self.function = function
        self.sequence = sequence
    }

    /// The name of the function, a zero byte, and the sequence in big-endian order.
    var bytes: [UInt8] { Self.prefix(function) + Self.bytes(of: sequence) }

    /// The common prefix of the keys of a function's rows.
    static func prefix(_ function: String) -> [UInt8] { Array(function.utf8) + [0] }

    static func bytes(of sequence: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * $0)) } }

    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= 9, bytes[bytes.count - 9] == 0 else { return nil }
        function = bytes.extracting(0..<bytes.count - 9).string()
        sequence = Self.sequence(bytes.extracting(bytes.count - 8..<bytes.count))
    }

    static func sequence(_ bytes: Span<UInt8>) -> UInt64 {
        var sequence: UInt64 = 0
        for index in bytes.indices { sequence = sequence << 8 | UInt64(bytes[index]) }
        return sequence
    }
}
