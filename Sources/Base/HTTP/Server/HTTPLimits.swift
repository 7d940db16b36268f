/// The limits of a server. A client that exceeds one gets the status named here.
public struct HTTPLimits: Sendable {
    /// Open connections; a further one is answered 503 and closed.
    public var connectionsMax = 20_000
    /// Bytes of a request's head, request line and blank line included: 431.
    public var headBytesMax = 16 * 1024
    /// Bytes of the request target: 414.
    public var targetBytesMax = 8 * 1024
    /// Header fields of a request: 431.
    public var headerCountMax = 100
    /// Bytes of a body, after decompression, whatever the handler allows: 413.
    public var bodyBytesMax = 64 * 1024 * 1024
    /// Bytes of an unwanted body that are read and discarded to keep the connection; beyond that it is closed.
    public var discardedBytesMax = 64 * 1024
    /// Bytes read ahead while a request is processed, before reading pauses.
    public var pipelinedBytesMax = 32 * 1024
    /// From the first byte of a head to its last, and from the start of the connection to the first byte: 408.
    public var headTimeoutMilliseconds: UInt64 = 15_000
    /// A body must make progress in each window of this length: 408.
    public var bodyTimeoutMilliseconds: UInt64 = 15_000
    /// Bytes of a body that count as progress in one window.
    public var bodyProgressBytesMin = 512
    /// From an answer to the next request; then the connection is closed.
    public var idleTimeoutMilliseconds: UInt64 = 65_000
    /// The longest time in which a client may read nothing of an answer before it is disconnected.
    public var writeTimeoutMilliseconds: UInt64 = 30_000
    /// Silence of the client after the last answer of a connection, before the connection is closed. A client that still sends a refused
    /// body is read from for up to fifteen times as long, so that it gets to read the answer.
    public var lingerMilliseconds: UInt64 = 2_000

    /// The defaults, for a server on the open Internet.
    public init() {}

    /// Interval of deadline checks: at most a quarter of the shortest deadline.
    var tickMilliseconds: UInt64 {
        let shortest = min(
            headTimeoutMilliseconds, bodyTimeoutMilliseconds, idleTimeoutMilliseconds, writeTimeoutMilliseconds,
            lingerMilliseconds)
        return min(max(shortest / 4, 5), 500)
    }
}

/// Counters of a server. Plain numbers, on its loop only.
public struct HTTPServerFigures: Sendable {
    /// Accepted connections, including refused ones.
    public internal(set) var connectionsAccepted = 0
    /// Answers that have begun, by the first digit of their status.
    private var answers = InlineArray<10, Int>(repeating: 0)

    /// All counters at 0.
    public init() {}

    /// Answers with a status that begins with this digit.
    public func answers(ofClass digit: Int) -> Int { answers[digit] }

    @inline(__always)
    mutating func count(_ status: HTTPStatus) { answers[min(9, status.rawValue / 100)] &+= 1 }

    /// Counts an answer by its head, such as `HTTP/1.1 200`.
    @inline(__always)
    mutating func count(prebuiltHead: StaticString) { answers[Int(prebuiltHead.utf8Start[9] &- 0x30) % 10] &+= 1 }
}
