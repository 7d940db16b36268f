import CLLHTTP

/// Parses complete heads with llhttp in its strict mode, one after the other: one parser serves all connections.
///
/// A head is handed over whole, so each part comes in one call and lies in the head's own memory. The body's framing is
/// not llhttp's: see `BodyFraming`.
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

    /// Fills in the parts of `head`, whose bytes are loaded.
    func parse(_ head: inout RequestHead) -> HTTPRefusal? {
        llhttp_init(parser, HTTP_REQUEST, settings)
        let code = withUnsafeMutablePointer(to: &head) { pointer in
            parser.pointee.data = UnsafeMutableRawPointer(pointer)
            return pointer.pointee.bytes.withMemoryRebound(to: CChar.self, capacity: pointer.pointee.count) {
                llhttp_execute(parser, $0, pointer.pointee.count)
            }
        }
        guard code == HPE_PAUSED || code == HPE_PAUSED_UPGRADE else { return refusal(for: code, head) }
        head.method = HTTPMethod(rawValue: parser.pointee.method)
        head.minorVersion = Int(parser.pointee.http_minor)
        return nil
    }

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
