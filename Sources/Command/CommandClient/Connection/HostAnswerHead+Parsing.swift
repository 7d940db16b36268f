import HearthBytes

extension HostAnswerHead {
    /// Reads the status line and the fields, up to and with the empty line.
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
        ClientFailure(.notHTTP, "what answers at \(url) is not a host of Hearth; check --url")
    }
}

extension Span where Element == UInt8 {
    /// How long the head of a message is with its empty line, nil while that is not there.
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
