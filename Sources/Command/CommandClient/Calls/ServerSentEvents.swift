import HearthBytes

/// Takes a stream of server-sent events apart (HTML Standard, section 9.2.6).
struct ServerSentEvents {
    private var line: [UInt8] = []
    private var data: [UInt8] = []

    /// The data of the events that are complete with this piece.
    mutating func events(in piece: Span<UInt8>) -> [[UInt8]] {
        var events: [[UInt8]] = []
        for index in 0..<piece.count {
            let byte = piece[index]
            guard byte == UInt8(ascii: "\n") else {
                if byte != UInt8(ascii: "\r") { line.append(byte) }
                continue
            }
            if line.isEmpty {
                if !data.isEmpty { events.append(data) }
                data = []
            } else if line.starts(with: Array("data:".utf8)) {
                let value = line.dropFirst(5)
                if !data.isEmpty { data.append(UInt8(ascii: "\n")) }
                data += value.first == UInt8(ascii: " ") ? value.dropFirst() : value
            }
            line = []
        }
        return events
    }
}
