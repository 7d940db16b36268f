import HearthBytes

extension HostAnswerHead {
    /// Parses the status line and the fields, including the empty line.
    ///
    /// - Throws: `ClientFailure` of kind `notHTTP`.
    init(parsing bytes: Span<UInt8>, url: HostURL) throws(ClientFailure) {
        var lines = bytes.string().split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        let first = lines.removeFirst().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard first.count >= 2, first[0].hasPrefix("HTTP/1."), first[1].count == 3, let status = Int(first[1]), (100...599).contains(status)
        else { throw Self.refusal(url) }
        var headers: [(name: String, value: String)] = []
        for line in lines where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { throw Self.refusal(url) }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers.append((line[..<colon].lowercased(), String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed())))
        }
        self.init(status: status, headers: headers, isPersistent: Self.persists(first[0], headers))
    }

    /// RFC 9112 section 9.3.
    private static func persists(_ version: Substring, _ headers: [(name: String, value: String)]) -> Bool {
        let options = headers.filter { $0.name == "connection" }.flatMap { $0.value.lowercased().split { $0 == "," || $0 == " " } }
        return !options.contains("close") && (version != "HTTP/1.0" || options.contains("keep-alive"))
    }

    static func refusal(_ url: HostURL) -> ClientFailure {
        ClientFailure(.notHTTP, "the server at \(url) is not a Hearth host; check --url")
    }
}

extension Span where Element == UInt8 {
    /// The length of the head with its empty line; nil if it is incomplete.
    var endOfHead: Int? {
        var index = 0
        while index < count {
            if self[index] == UInt8(ascii: "\n") {
                if index + 1 < count, self[index + 1] == UInt8(ascii: "\n") { return index + 2 }
                if index + 2 < count, self[index + 1] == UInt8(ascii: "\r"), self[index + 2] == UInt8(ascii: "\n") { return index + 3 }
            }
            index += 1
        }
        return nil
    }
}

/// Finds the end of an answer's body (RFC 9112 section 6) in data that arrives in pieces.
enum AnswerBody {
    case complete
    case untilClose
    /// The number of remaining bytes.
    case fixed(Int)
    /// The remaining bytes of the chunk; at 0 the line with the next size follows.
    case chunk(Int)
    /// The line end after a chunk follows.
    case chunkEnd
    /// Trailer fields, up to an empty line.
    case trailer

    /// The use of the available bytes.
    enum Step: Equatable {
        case complete
        case more
        case skip(Int)
        case take(Int)
        case wrong
    }

    private static let lineBytesMax = 8192

    /// - Throws: `ClientFailure` of kind `notHTTP` if the length is invalid.
    init(_ head: HostAnswerHead, isHeadOnly: Bool = false, url: HostURL) throws(ClientFailure) {
        if isHeadOnly || head.status == 204 || head.status == 304 {
            self = .complete
        } else if head.header("transfer-encoding")?.lowercased() == "chunked" {
            self = .chunk(0)
        } else if let text = head.header("content-length") {
            guard let length = Int(text), length >= 0 else { throw HostAnswerHead.refusal(url) }
            self = length == 0 ? .complete : .fixed(length)
        } else {
            self = .untilClose
        }
    }

    var isComplete: Bool { if case .complete = self { true } else { false } }

    mutating func step(_ bytes: Span<UInt8>) -> Step {
        if case .complete = self { return .complete }
        guard bytes.count > 0 else { return .more }
        switch self {
        case .complete: return .complete
        case .untilClose: return .take(bytes.count)
        case .fixed(let left):
            let count = min(left, bytes.count)
            self = left == count ? .complete : .fixed(left - count)
            return .take(count)
        case .chunk(0): return beginChunk(bytes)
        case .chunk(let left):
            let count = min(left, bytes.count)
            self = left == count ? .chunkEnd : .chunk(left - count)
            return .take(count)
        case .chunkEnd:
            guard let line = Self.line(bytes) else { return bytes.count > 2 ? .wrong : .more }
            guard line.content == 0 else { return .wrong }
            self = .chunk(0)
            return .skip(line.whole)
        case .trailer:
            guard let line = Self.line(bytes) else { return bytes.count > Self.lineBytesMax ? .wrong : .more }
            if line.content == 0 { self = .complete }
            return .skip(line.whole)
        }
    }

    private mutating func beginChunk(_ bytes: Span<UInt8>) -> Step {
        guard let line = Self.line(bytes) else { return bytes.count > Self.lineBytesMax ? .wrong : .more }
        let text = bytes.extracting(first: line.content).string().prefix { $0 != ";" && $0 != " " }
        guard text.count <= 15, text.allSatisfy(\.isHexDigit), let size = Int(text, radix: 16) else { return .wrong }
        self = size == 0 ? .trailer : .chunk(size)
        return .skip(line.whole)
    }

    /// The lengths of the first line without and with its end; nil if the end has not arrived.
    private static func line(_ bytes: Span<UInt8>) -> (content: Int, whole: Int)? {
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") {
            let content = index > 0 && bytes[index - 1] == UInt8(ascii: "\r") ? index - 1 : index
            return (content, index + 1)
        }
        return nil
    }
}
