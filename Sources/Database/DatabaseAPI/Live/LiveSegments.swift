import HearthBytes

/// The framing of long messages (spec database 3.2): a frame with the number of segments, then the segments.
enum LiveSegments {
    /// The most UTF-16 units of a segment.
    static let unitsMax = 16_384
    /// The most segments, which every client accepts (spec database 10.1).
    static let countMax = 9_999

    /// Calls `send` with each frame of a message.
    static func send(_ message: Span<UInt8>, _ send: (Span<UInt8>) -> Void) {
        // A message has at most as many units as bytes.
        guard message.count > unitsMax else { return send(message) }
        let ends = ends(message)
        if ends.count > 1 {
            var count = ByteBuffer()
            count.append(decimal: ends.count)
            send(count.bytes)
        }
        var start = 0
        for end in ends {
            send(message.extracting(start..<end))
            start = end
        }
    }

    /// The ends of the segments, in bytes, none within a character.
    static func ends(_ message: Span<UInt8>) -> [Int] {
        var ends: [Int] = []
        var units = 0
        for index in 0..<message.count {
            let byte = message[index]
            guard byte & 0xC0 != 0x80 else { continue }
            let width = byte >= 0xF0 ? 2 : 1
            if units + width > unitsMax {
                ends.append(index)
                units = 0
            }
            units += width
        }
        ends.append(message.count)
        return ends
    }
}

/// Joins the segments of a client's messages.
struct LiveAssembler: ~Copyable {
    /// The most bytes of a message.
    let bytesMax: Int
    private var missing = 0
    private var message = ByteBuffer()

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The bytes of the incomplete message.
    var unfinishedBytes: Int { message.count }

    /// Takes a frame, and calls `body` with the message that it completes.
    ///
    /// - Throws: `LiveMessage.Fault` for a message that is too long.
    mutating func take(_ frame: Span<UInt8>, _ body: (Span<UInt8>) -> Void) throws(LiveMessage.Fault) {
        if missing == 0 {
            guard let count = Self.count(frame) else {
                guard frame.count <= bytesMax else { throw tooLong }
                return body(frame)
            }
            // 0 is the sign of life of a client that has nothing to say.
            guard count <= bytesMax / 16 else { throw tooLong }
            missing = max(count, 0)
            return
        }
        guard frame.count <= bytesMax - message.count else { throw tooLong }
        message.append(frame)
        missing -= 1
        guard missing == 0 else { return }
        body(message.bytes)
        message.clear(keepingAtMost: 4096)
    }

    private var tooLong: LiveMessage.Fault { LiveMessage.Fault(reason: "a message may have at most \(bytesMax) bytes") }

    /// The number that a frame of up to six characters consists of.
    private static func count(_ frame: Span<UInt8>) -> Int? {
        guard frame.count <= 6, frame.count > 0 else { return nil }
        return Int(frame.string())
    }
}
