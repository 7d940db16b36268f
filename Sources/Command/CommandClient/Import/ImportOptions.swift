import HearthBytes

/// The options of an import.
public struct ImportOptions: Sendable, Hashable {
    /// Approximate bytes of one request. A request is one transaction of the host: longer ones delay other clients more.
    public var batchBytes = 256 * 1024
    /// Concurrent requests.
    public var requestsMax = 4
    /// Whether writes trigger functions.
    public var raisesTriggers = false
    /// The offset up to which an earlier attempt has written everything.
    public var resumesAt = 0
    /// Retries of a request when the host is unreachable or too busy.
    public var retriesMax = 12

    /// The defaults.
    public init() {}
}

/// The progress of an import.
public struct ImportProgress: Sendable, Hashable {
    /// Bytes of the text that were written.
    public var bytes = 0
    /// Values that were written.
    public var values = 0
    /// Answered requests.
    public var requests = 0
}

/// The reason why an import ended early.
public struct ImportFailure: Error, Sendable {
    /// The failure.
    public let reason: ClientFailure
    /// The offset up to which everything was written; some of the rest may have been written too.
    public let writtenBytes: Int
    /// The range of the text in the refused request.
    public let source: Range<Int>?
}

/// Values that one request writes atomically.
struct ImportBatch {
    /// The body of a multi-path PATCH.
    private(set) var body: [UInt8] = [UInt8(ascii: "{")]
    private(set) var count = 0
    /// The range of the text that the values come from.
    private(set) var source: Range<Int>

    /// An empty batch for the text from byte `start` on.
    init(from start: Int) { source = start..<start }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ piece: JSONPiece) {
        if count > 0 { body.append(UInt8(ascii: ",")) }
        body.append(UInt8(ascii: "\""))
        body += piece.path
        body.append(UInt8(ascii: "\""))
        body.append(UInt8(ascii: ":"))
        body += piece.value
        count += 1
        source = source.lowerBound..<piece.end
    }

    /// The complete body.
    var closed: [UInt8] { body + [UInt8(ascii: "}")] }
}
