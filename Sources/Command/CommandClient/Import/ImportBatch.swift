import HearthBytes

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
