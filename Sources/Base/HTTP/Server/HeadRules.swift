/// Rules for heads beyond the grammar, so that no intermediary can have read the head differently (RFC 9112 sections 3.2, 6.1 and 6.3, RFC
/// 9110 section 7.2).
enum HeadRules {
    /// Evaluates the fields for connection handling and the destination of the request.
    ///
    /// - Parameter requestLineEnd: the offset of the request line's CR.
    static func apply(to head: inout RequestHead, requestLineEnd: Int, limits: HTTPLimits) -> HTTPRefusal? {
        if head.target.count > limits.targetBytesMax { return .targetTooLong }
        if head.fieldCount > limits.headerCountMax { return .tooManyFields }
        if let refusal = checkRequestLine(head, requestLineEnd) { return refusal }
        head.isKeepAlive = head.minorVersion >= 1
        var seen = Seen()
        for index in 0..<head.fieldCount {
            if let refusal = apply(index, to: &head, &seen) { return refusal }
        }
        if head.minorVersion >= 1, seen.hosts == 0 { return .badRequest("the Host field is missing") }
        if head.isChunked, head.contentLength >= 0 {
            return .badRequest("Content-Length and Transfer-Encoding are both given")
        }
        return splitTarget(of: &head, hostIndex: seen.hostIndex)
    }

    /// Checks that the request line ends with a supported version. Called before the parser, which accepts other protocols.
    static func checkVersion(of head: borrowing RequestHead, requestLineEnd end: Int) -> HTTPRefusal? {
        let name: StaticString = " HTTP/"
        guard end >= 9 else { return .badRequest("the request line is not valid") }
        let version = UnsafeBufferPointer(start: head.bytes + end - 9, count: 9)
        for index in 0..<6 where version[index] != name.utf8Start[index] {
            return .badRequest("the request line is not valid")
        }
        guard version[6] &- 48 < 10, version[7] == UInt8(ascii: "."), version[8] &- 48 < 10 else {
            return .badRequest("the request line is not valid")
        }
        guard version[6] == UInt8(ascii: "1"), version[8] <= UInt8(ascii: "1") else {
            return HTTPRefusal(.versionNotSupported, "only HTTP/1.1 and HTTP/1.0 are supported")
        }
        return nil
    }

    private struct Seen {
        var hosts = 0
        var hostIndex = -1
        var saysClose = false
    }

    /// Requires exactly `method SP target SP HTTP/1.x`, without repeated or trailing characters.
    private static func checkRequestLine(_ head: borrowing RequestHead, _ end: Int) -> HTTPRefusal? {
        let start = Int(head.target.offset)
        let targetEnd = start + Int(head.target.count)
        guard start >= 2, head.target.count > 0, targetEnd + 9 == end, head.bytes[targetEnd] == 0x20,
            head.bytes[start - 1] == 0x20, FieldSyntax.isToken(head.bytes[start - 2])
        else { return .badRequest("the request line is not valid") }
        for index in start..<targetEnd {
            let byte = head.bytes[index]
            // A fragment is never sent (RFC 9110 section 7.1).
            guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else {
                return .badRequest("the request target is not valid")
            }
        }
        return nil
    }

    private static func apply(_ index: Int, to head: inout RequestHead, _ seen: inout Seen) -> HTTPRefusal? {
        let field = head.fields[index]
        let name = head.slice(field.name)
        let value = head.slice(field.value)
        switch name.count {
        case 0: return .badRequest("a field has no name")
        case 4 where name.equalsIgnoringCase(lowercase: "host"):
            seen.hosts += 1
            guard seen.hosts == 1 else { return .badRequest("the Host field is given twice") }
            guard value.allSatisfy(FieldSyntax.isAuthority) else { return .badRequest("the Host field is not valid") }
            head.host = field.value
            seen.hostIndex = index
        case 6 where head.minorVersion >= 1 && name.equalsIgnoringCase(lowercase: "expect"):
            head.expectation = value.equalsIgnoringCase(lowercase: "100-continue") ? .continueFirst : .unknown
        case 10 where name.equalsIgnoringCase(lowercase: "connection"):
            applyConnection(value, to: &head, &seen)
        case 14 where name.equalsIgnoringCase(lowercase: "content-length"):
            return applyContentLength(value, to: &head)
        case 16 where name.equalsIgnoringCase(lowercase: "content-encoding"):
            head.contentCoding = head.contentCoding == .identity ? contentCoding(value) : .unknown
        case 17 where name.equalsIgnoringCase(lowercase: "transfer-encoding"):
            return applyTransferEncoding(value, to: &head)
        default: break
        }
        return nil
    }

    private static func applyConnection(
        _ value: UnsafeBufferPointer<UInt8>, to head: inout RequestHead, _ seen: inout Seen
    ) {
        var saysKeepAlive = false
        forEachElement(of: value) { element in
            if element.equalsIgnoringCase(lowercase: "close") { seen.saysClose = true }
            if element.equalsIgnoringCase(lowercase: "keep-alive") { saysKeepAlive = true }
        }
        if seen.saysClose { head.isKeepAlive = false } else if saysKeepAlive { head.isKeepAlive = true }
    }

    private static func applyContentLength(_ value: UnsafeBufferPointer<UInt8>, to head: inout RequestHead) -> HTTPRefusal? {
        // Two fields are refused even when they agree: the next server may choose the other one of a later pair.
        guard head.contentLength < 0 else { return .badRequest("Content-Length is given twice") }
        guard value.count > 0, value.count <= 18 else { return .badRequest("the content length is not valid") }
        var length = 0
        for byte in value {
            guard byte &- 48 < 10 else { return .badRequest("the content length is not valid") }
            length = length * 10 + Int(byte - 48)
        }
        head.contentLength = length
        return nil
    }

    private static func applyTransferEncoding(
        _ value: UnsafeBufferPointer<UInt8>, to head: inout RequestHead
    ) -> HTTPRefusal? {
        guard !head.isChunked else { return .badRequest("Transfer-Encoding is given twice") }
        guard head.minorVersion >= 1 else { return .badRequest("HTTP/1.0 has no Transfer-Encoding") }
        guard value.equalsIgnoringCase(lowercase: "chunked") else {
            return .badRequest("the transfer coding is not just chunked")
        }
        head.isChunked = true
        return nil
    }

    private static func contentCoding(_ value: UnsafeBufferPointer<UInt8>) -> RequestHead.ContentCoding {
        if value.isEmpty || value.equalsIgnoringCase(lowercase: "identity") { return .identity }
        if value.equalsIgnoringCase(lowercase: "gzip") || value.equalsIgnoringCase(lowercase: "x-gzip") { return .gzip }
        return value.equalsIgnoringCase(lowercase: "deflate") ? .deflate : .unknown
    }

    private static func forEachElement(
        of value: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        var start = 0
        while start < value.count {
            var end = start
            while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
            var first = start
            var last = end
            while first < last, value[first] == 0x20 || value[first] == 0x09 { first += 1 }
            while last > first, value[last - 1] == 0x20 || value[last - 1] == 0x09 { last -= 1 }
            body(UnsafeBufferPointer(rebasing: value[first..<last]))
            start = end + 1
        }
    }

    /// Finds path and query in the four target forms of RFC 9112 section 3.2.
    private static func splitTarget(of head: inout RequestHead, hostIndex: Int) -> HTTPRefusal? {
        if head.method == .connect { return HTTPRefusal(.notImplemented, "CONNECT is not supported") }
        let target = head.slice(head.target)
        switch target[0] {
        case UInt8(ascii: "/"):
            setPath(of: &head, from: 0)
            return nil
        case UInt8(ascii: "*") where target.count == 1 && head.method == .options:
            head.path = head.target
            return nil
        default:
            return splitAbsolute(target, of: &head, hostIndex: hostIndex)
        }
    }

    private static func splitAbsolute(
        _ target: UnsafeBufferPointer<UInt8>, of head: inout RequestHead, hostIndex: Int
    ) -> HTTPRefusal? {
        var start = 0
        for scheme: StaticString in ["http://", "https://"] where target.count > scheme.utf8CodeUnitCount {
            let length = scheme.utf8CodeUnitCount
            if UnsafeBufferPointer(rebasing: target[..<length]).equalsIgnoringCase(lowercase: scheme) { start = length }
        }
        guard start > 0 else { return .badRequest("the request target is not valid") }
        var end = start
        while end < target.count, target[end] != UInt8(ascii: "/"), target[end] != UInt8(ascii: "?") {
            guard FieldSyntax.isAuthority(target[end]) else { return .badRequest("the request target is not valid") }
            end += 1
        }
        guard end > start else { return .badRequest("the request target names no host") }
        // The authority of the target overrides the Host field (RFC 9112 section 3.2.2), also when the field is read by name.
        head.host = RequestHead.Part(offset: head.target.offset + UInt32(start), count: UInt32(end - start))
        if hostIndex >= 0 { head.setValue(head.host, at: hostIndex) }
        setPath(of: &head, from: end)
        return nil
    }

    private static func setPath(of head: inout RequestHead, from start: Int) {
        let target = head.slice(head.target)
        var end = start
        while end < target.count, target[end] != UInt8(ascii: "?") { end += 1 }
        let base = head.target.offset
        if end < target.count {
            head.query = RequestHead.Part(offset: base + UInt32(end + 1), count: UInt32(target.count - end - 1))
        }
        head.path =
            end > start ? RequestHead.Part(offset: base + UInt32(start), count: UInt32(end - start)) : head.appendSlash()
    }
}
