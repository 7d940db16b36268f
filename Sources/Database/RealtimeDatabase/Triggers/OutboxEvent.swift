import HearthBytes
public import HTTP
public import Tree

/// An event that waits for its function: a row of the outbox, written in the transaction of the write that raised it.
public struct OutboxEvent: Sendable, Hashable {
    /// Its place in the order of the namespace's events.
    public var sequence: UInt64
    /// Names the event, also when it is delivered again.
    public var id: String
    /// The namespace whose tree changed.
    public var namespace: String
    /// The function that it is for.
    public var function: String
    /// What the function asked for: `written` although the value was created.
    public var kind: TriggerKind
    /// Where the value changed.
    public var path: Path
    /// What the pattern's names stand for, in the pattern's order.
    public var params: [EventParameter]
    /// What the function is given: `{"before":...,"after":...}`, or `{"truncated":true}` where both are too large to be kept.
    public var payload: [UInt8]
    /// When it was written, in milliseconds since 1970.
    public var time: Int64
    /// Who wrote.
    public var origin: EventOrigin
    /// The events that led to the write.
    public var chain: EventChain
    /// What the write was a part of: the function that it runs is a part of that, too.
    public var trace: TraceContext?
    /// How far its delivery has come.
    public var progress: DeliveryProgress

    /// The chain of what the function writes because of this event.
    public var chainOfEffects: EventChain {
        chain.appending(EventChain.Link(event: id, function: function, path: path.description))
    }

    /// Its row in the outbox.
    public var key: EventKey { EventKey(function: function, sequence: sequence) }
}

/// How far the delivery of an event has come.
public struct DeliveryProgress: Sendable, Hashable {
    /// How often the function has failed at it.
    public var attempts = 0
    /// How often the worker ended before the function had answered.
    public var interruptions = 0
    /// Since when it waits, in milliseconds since 1970: what its age is counted from.
    public var since: Int64
    /// Not before this is it tried again, in milliseconds since 1970.
    public var notBefore: Int64 = 0
    /// What the last attempt came to.
    public var lastError: String?

    /// Nothing was tried yet.
    public init(since: Int64) { self.since = since }
}

/// Names a row of the outbox. Rows are sorted by function, so that a function which fails holds up nobody else.
public struct EventKey: Sendable, Hashable {
    /// The function that the event is for.
    public var function: String
    /// The event's place in the order of the namespace's events.
    public var sequence: UInt64

    /// Names a row.
    public init(function: String, sequence: UInt64) {
        self.function = function
        self.sequence = sequence
    }

    /// The function's name, a zero byte, the sequence with the high byte first.
    var bytes: [UInt8] { Self.prefix(function) + Self.bytes(of: sequence) }

    /// What the keys of a function's rows begin with.
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
