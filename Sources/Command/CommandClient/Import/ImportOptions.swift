import HearthBytes

/// How a text is imported.
public struct ImportOptions: Sendable, Hashable {
    /// About how many bytes one request carries. A request is one transaction of the host: the longer, the longer others wait.
    public var batchBytes = 256 * 1024
    /// How many requests are under way at a time.
    public var requestsMax = 4
    /// Whether the functions of the database run for what is written.
    public var raisesTriggers = false
    /// The byte of the text up to which all was written by an earlier attempt.
    public var resumesAt = 0
    /// How often a request is sent again when the host cannot be reached or is too busy.
    public var retriesMax = 12

    /// The usual.
    public init() {}
}

/// How far an import is.
public struct ImportProgress: Sendable, Hashable {
    /// Bytes of the text that the host has written.
    public var bytes = 0
    /// Values that the host has written.
    public var values = 0
    /// Requests that the host has answered.
    public var requests = 0
}

/// Why an import ended early.
public struct ImportFailure: Error, Sendable {
    /// What went wrong.
    public let reason: ClientFailure
    /// Everything up to this byte of the text has been written; what follows may have been in parts.
    public let writtenBytes: Int
    /// The bytes of the text that the refused request was made of.
    public let source: Range<Int>?
}

/// Some values that are written by one request: all of them or none.
struct ImportBatch {
    /// The body of a multi-path PATCH.
    private(set) var body: [UInt8] = [UInt8(ascii: "{")]
    private(set) var count = 0
    /// The bytes of the text that the values come from.
    private(set) var source: Range<Int>

    /// An empty batch of what follows byte `start` of the text.
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

    /// The whole body.
    var closed: [UInt8] { body + [UInt8(ascii: "}")] }
}
