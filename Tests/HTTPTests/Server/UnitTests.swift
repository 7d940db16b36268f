import Testing

@testable import HTTP

/// The small parts by themselves.
@Suite struct UnitTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
    ]) func dates(_ seconds: Int, _ text: String) {
        var line = DateLine()
        let bytes = UnsafeBufferPointer(start: line.current(nowMilliseconds: 0), count: DateLine.count)
        line.write(seconds)
        #expect(String(decoding: bytes, as: UTF8.self) == "Date: \(text)\r\n")
    }

    /// Every byte at every place of eight, so that the scan by words and the scan by bytes agree.
    @Test func controlCharactersAreFoundEverywhere() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<20 {
                var head = Array("GET /abcdefghijklmnopqrstuvwxyz HTTP/1.1\r\nA: ".utf8)
                head += [UInt8](repeating: UInt8(ascii: "x"), count: 20) + Array("\r\n\r\n".utf8)
                head[head.count - 24 + place] = byte
                var scan = HeadScan()
                let isRefused = head.withUnsafeBufferPointer { bytes in
                    guard let base = bytes.baseAddress else { return false }
                    if case .refused = scan.advance(base, count: bytes.count) { return true }
                    return false
                }
                #expect(isRefused == ((byte < 0x20 && byte != 0x09) || byte == 0x7F), "\(byte) at \(place)")
            }
        }
    }

    @Test func chunksComeOutInPieces() {
        let coded = Array("3;x\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nT: v\r\n\r\nrest".utf8)
        for size in 1...coded.count {
            var decoder = ChunkDecoder()
            var data: [UInt8] = []
            var used = 0
            while !decoder.isComplete, used < coded.count {
                coded[used..<min(used + size, coded.count)].withUnsafeBufferPointer { bytes in
                    guard case .progress(let consumed, let count) = decoder.next(bytes) else {
                        Issue.record("refused with pieces of \(size)")
                        return used = coded.count
                    }
                    data += bytes[(consumed - count)..<consumed]
                    used += consumed
                }
            }
            #expect(String(decoding: data, as: UTF8.self) == "abc0123456789abcdef")
            #expect(coded.count - used == 4)
        }
    }

    /// Long tokens are parsed as if llhttp had seen each of their bytes.
    @Test func longTokensAreParsedAsOthers() {
        let parser = HeadParser()
        let values = ["x", " ", "\t", "\u{e9}", "=", ":", ", ", "a b"].map { Array(repeating: $0, count: 300).joined() }
        let edges = ["", " ", "\t", "x", "xyz ", "\"", "\u{80}"]
        let names = [
            "Authorization", "authorization", "AUTHORIZATION", "Authorizatiom", "X-Firebase-AppCheck", "x-firebase-appcheck", "Cookie",
            "Authorization ",
        ]
        for name in names {
            for (value, edge) in values.flatMap({ value in edges.map { (value, $0) } }) {
                for colon in [":", ": ", ":  ", ": Bearer "] {
                    let line = "\(name)\(colon)\(edge)\(value)\(edge)\r\n"
                    for lines in [line, "\(line)Host: a\r\n\(line)\(line)", "Content-Length: 3\r\n\(line)Upgrade: x\r\n"] {
                        let head = Array("POST /call HTTP/1.1\r\nHost: b\r\n\(lines)\r\n".utf8)
                        #expect(Self.parts(of: head, parser, skips: true) == Self.parts(of: head, parser, skips: false), "\(lines)")
                    }
                }
            }
        }
    }

    /// The fields of a head or why it is refused, with or without what the scan tells of long lines.
    private static func parts(of bytes: [UInt8], _ parser: borrowing HeadParser, skips: Bool) -> [String] {
        var head = RequestHead()
        var scan = HeadScan()
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            head.load(base, count: bytes.count)
            _ = scan.advance(base, count: bytes.count)
        }
        if let refusal = parser.parse(&head, after: skips ? scan : HeadScan()) { return ["\(refusal)"] }
        return (0..<head.fieldCount).flatMap { index in
            let field = head.fields[index]
            return [field.name, field.value].map { String(decoding: head.slice($0), as: UTF8.self) } + ["\(field.value.offset)"]
        }
    }
}
