/// The bounds that a server holds its clients to. Going past one is answered with the status named here.
public struct HTTPLimits: Sendable {
    /// Connections open at once; one more is answered 503 and closed.
    public var connectionsMax = 20_000
    /// Bytes of a request's head, request line and blank line included: 431.
    public var headBytesMax = 16 * 1024
    /// Bytes of the request target: 414.
    public var targetBytesMax = 8 * 1024
    /// Header fields of a request: 431.
    public var headerCountMax = 100
    /// Bytes of a body, after decompression, whatever the handler allows: 413.
    public var bodyBytesMax = 64 * 1024 * 1024
    /// Bytes of an unwanted body that are read and thrown away to keep the connection; for more it is closed.
    public var discardedBytesMax = 64 * 1024
    /// Bytes taken in while a request is being worked on, before reading pauses.
    public var pipelinedBytesMax = 32 * 1024
    /// From the first byte of a head to its last, and from the connection to that first byte: 408.
    public var headTimeoutMilliseconds: UInt64 = 15_000
    /// In each window of this length a body must make progress: 408.
    public var bodyTimeoutMilliseconds: UInt64 = 15_000
    /// Bytes of a body that count as progress in one window.
    public var bodyProgressBytesMin = 512
    /// From an answer to the next request, after which the connection is closed.
    public var idleTimeoutMilliseconds: UInt64 = 65_000
    /// For how long the client may take nothing of an answer before it is cut off.
    public var writeTimeoutMilliseconds: UInt64 = 30_000
    /// After the last answer of a connection, how long the client may be silent before it is closed altogether. One that is
    /// still sending what was refused is read from for up to fifteen times as long, so that it comes to see the answer.
    public var lingerMilliseconds: UInt64 = 2_000

    /// The defaults, which suit a server on the open internet.
    public init() {}

    /// How often deadlines are looked at: no later than a quarter of the shortest of them.
    var tickMilliseconds: UInt64 {
        let shortest = min(
            headTimeoutMilliseconds, bodyTimeoutMilliseconds, idleTimeoutMilliseconds, writeTimeoutMilliseconds,
            lingerMilliseconds)
        return min(max(shortest / 4, 5), 500)
    }
}

/// What a server counts: plain numbers, on its loop only.
public struct HTTPServerFigures: Sendable {
    /// Connections that came, those included that were turned away.
    public internal(set) var connectionsAccepted = 0
    /// Answers that were begun, by the first digit of their status.
    private var answers = InlineArray<10, Int>(repeating: 0)

    /// Nothing was done yet.
    public init() {}

    /// Answers whose status begins with this digit.
    public func answers(ofClass digit: Int) -> Int { answers[digit] }

    @inline(__always)
    mutating func count(_ status: HTTPStatus) { answers[min(9, status.rawValue / 100)] &+= 1 }

    /// Counts a head that begins with `HTTP/1.1 200`.
    @inline(__always)
    mutating func count(prebuiltHead: StaticString) { answers[Int(prebuiltHead.utf8Start[9] &- 0x30) % 10] &+= 1 }
}
