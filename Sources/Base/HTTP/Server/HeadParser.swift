import CLLHTTP

/// Finds the end of a request's head in data that arrives in pieces, and refuses bytes that no head may contain.
///
/// Each byte is examined once, however small the pieces. Stricter than the parser behind it: a line ends with CR LF only (RFC 9112 section
/// 2.2 allows a bare LF, and servers that disagree about it enable request smuggling), lines are not folded (section 5.2), and control
/// characters are refused.
struct HeadScan {
    private(set) var position = 0
    private var lineStart = 0
    /// Offset of the request line's CR; -1 before it was found.
    private(set) var requestLineEnd = -1
    /// The first lines that are longer than ``longLineBytes``, without the request line.
    private(set) var longLines = InlineArray<2, Range<Int>>(repeating: 0..<0)
    private var longLineCount = 0

    private static let longLineBytes = 256

    enum Outcome {
        case incomplete
        /// The head is the first `count` bytes.
        case complete(count: Int)
        case refused(HTTPRefusal)
    }

    /// Continues with `count` bytes at `base`, which begin with the bytes of the previous calls.
    mutating func advance(_ base: UnsafePointer<UInt8>, count: Int) -> Outcome {
        while true {
            let index = Self.nextControl(base, from: position, count: count)
            position = index
            guard index < count else { return .incomplete }
            switch base[index] {
            case 0x0D:
                guard index + 1 < count else { return .incomplete }
                guard base[index + 1] == 0x0A else { return .refused(.badRequest("a CR without LF")) }
                if index == lineStart { return .complete(count: index + 2) }
                let first = base[lineStart]
                guard first != 0x20, first != 0x09 else {
                    return .refused(.badRequest("a line of the head begins with white space"))
                }
                if requestLineEnd < 0 {
                    requestLineEnd = index
                } else if index - lineStart > Self.longLineBytes, longLineCount < longLines.count {
                    longLines[longLineCount] = lineStart..<index
                    longLineCount += 1
                }
                position = index + 2
                lineStart = position
            case 0x0A:
                return .refused(.badRequest("a LF without CR"))
            case 0x09:
                position = index + 1
            default:
                return .refused(.badRequest("the head contains a control character"))
            }
        }
    }

    /// The index of the first control character at or after `start`. Examines eight bytes at a time where possible.
    @inline(__always)
    private static func nextControl(_ base: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int {
        var index = start
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while index + 8 <= count {
            let word = UInt64(littleEndian: UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self))
            let delete = word ^ (ones &* 0x7F)
            let hits = ((word &- ones &* 0x20) & ~word | (delete &- ones) & ~delete) & highs
            if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, base[index] >= 0x20, base[index] != 0x7F { index += 1 }
        return index
    }
}

/// Parses complete heads with llhttp in strict mode. One parser serves all connections.
///
/// Each part lies in the head's own memory, and comes in one piece; a long token in two, see ``tokenPart(of:in:)``. Body framing is not
/// llhttp's: see `BodyFraming`.
struct HeadParser: ~Copyable {
    private let parser: UnsafeMutablePointer<llhttp_t>
    private let settings: UnsafeMutablePointer<llhttp_settings_t>

    init() {
        parser = .allocate(capacity: 1)
        settings = .allocate(capacity: 1)
        llhttp_settings_init(settings)
        settings.pointee.on_url = { parser, at, length in
            HeadParser.withHead(parser) { head in
                head.target = HeadParser.part(at, length, in: head)
                return 0
            }
        }
        settings.pointee.on_header_field = { parser, at, length in
            HeadParser.withHead(parser) { head in
                head.appendField(name: HeadParser.part(at, length, in: head))
                return 0
            }
        }
        settings.pointee.on_header_value = { parser, at, length in
            HeadParser.withHead(parser) { head in
                head.setLastValue(HeadParser.part(at, length, in: head))
                return 0
            }
        }
        settings.pointee.on_headers_complete = { _ in Int32(HPE_PAUSED.rawValue) }
    }

    deinit {
        parser.deallocate()
        settings.deallocate()
    }

    /// Fills in the parts of `head`, whose bytes are loaded and were examined by `scan`.
    func parse(_ head: inout RequestHead, after scan: HeadScan) -> HTTPRefusal? {
        llhttp_init(parser, HTTP_REQUEST, settings)
        let code = withUnsafeMutablePointer(to: &head) { pointer in
            parser.pointee.data = UnsafeMutableRawPointer(pointer)
            var position = 0
            for index in scan.longLines.indices {
                guard let skipped = Self.tokenPart(of: scan.longLines[index], in: pointer.pointee) else { continue }
                let code = execute(pointer.pointee, position..<skipped.lowerBound)
                guard code == HPE_OK else { return code }
                position = skipped.upperBound
            }
            return execute(pointer.pointee, position..<pointer.pointee.count)
        }
        guard code == HPE_PAUSED || code == HPE_PAUSED_UPGRADE else { return refusal(for: code, head) }
        head.method = HTTPMethod(rawValue: parser.pointee.method)
        head.minorVersion = Int(parser.pointee.http_minor)
        return nil
    }

    private func execute(_ head: borrowing RequestHead, _ range: Range<Int>) -> llhttp_errno {
        (head.bytes + range.lowerBound).withMemoryRebound(to: CChar.self, capacity: range.count) { llhttp_execute(parser, $0, range.count) }
    }

    /// The bytes of a long token that llhttp need not see: its loop takes a nanosecond a byte, which is a tenth of a call with two tokens.
    ///
    /// Within the value of these two fields llhttp stays in one state until the line ends, and takes every byte that ``HeadScan`` has let
    /// through. The first and the last bytes of the value are not skipped, so its two pieces tell where it begins and ends.
    private static func tokenPart(of line: Range<Int>, in head: borrowing RequestHead) -> Range<Int>? {
        guard !line.isEmpty else { return nil }
        let bytes = head.bytes + line.lowerBound
        let name: StaticString
        switch bytes[0] | 0x20 {
        case UInt8(ascii: "a"): name = "authorization: "
        case UInt8(ascii: "x"): name = "x-firebase-appcheck: "
        default: return nil
        }
        for index in 0..<name.utf8CodeUnitCount where bytes[index] | 0x20 != name.utf8Start[index] { return nil }
        let start = name.utf8CodeUnitCount + seenTokenBytes
        for index in name.utf8CodeUnitCount..<start where bytes[index] <= 0x20 { return nil }
        return line.lowerBound + start..<line.upperBound - 1
    }

    private static let seenTokenBytes = 4

    private func refusal(for code: llhttp_errno, _ head: borrowing RequestHead) -> HTTPRefusal {
        switch code {
        case HPE_INVALID_METHOD:
            return Self.beginsWithToken(head)
                ? HTTPRefusal(.notImplemented, "the method is not known") : .badRequest("the method is not valid")
        case HPE_INVALID_URL: return .badRequest("the request target is not valid")
        case HPE_INVALID_HEADER_TOKEN: return .badRequest("a header field is not valid")
        case HPE_INVALID_CONTENT_LENGTH, HPE_UNEXPECTED_CONTENT_LENGTH:
            return .badRequest("the content length is not valid")
        case HPE_INVALID_TRANSFER_ENCODING: return .badRequest("the transfer coding is not valid")
        default: return .badRequest("the request head is not valid")
        }
    }

    private static func beginsWithToken(_ head: borrowing RequestHead) -> Bool {
        var index = 0
        while index < head.count, FieldSyntax.isToken(head.bytes[index]) { index += 1 }
        return index > 0 && index < head.count && head.bytes[index] == 0x20
    }

    @inline(__always)
    private static func withHead(
        _ parser: UnsafeMutablePointer<llhttp_t>?, _ body: (inout RequestHead) -> Int32
    ) -> Int32 {
        guard let data = parser?.pointee.data else { return -1 }
        return body(&data.assumingMemoryBound(to: RequestHead.self).pointee)
    }

    @inline(__always)
    private static func part(
        _ at: UnsafePointer<CChar>?, _ length: Int, in head: borrowing RequestHead
    ) -> RequestHead.Part {
        guard let at else { return RequestHead.Part() }
        let offset = UnsafeRawPointer(at) - UnsafeRawPointer(head.bytes)
        return RequestHead.Part(offset: UInt32(truncatingIfNeeded: offset), count: UInt32(truncatingIfNeeded: length))
    }
}
