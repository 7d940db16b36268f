import CLLHTTP
import Glibc
import HearthBytes

/// Gathers the fields of a request as they are decompressed, and makes the head that the same request has in HTTP/1.1. So everything behind it,
/// from the rules for heads to the workers, sees one kind of head.
///
/// nghttp2 has checked names, values and the presence of the pseudo-header fields (RFC 9113 section 8.3.1).
struct HTTP2Head: ~Copyable {
    private var text = ByteBuffer()
    private var fields: [RequestHead.Field] = []
    private var cookie = ByteBuffer()
    private var pseudo = ByteBuffer()
    private var method = 0..<0
    private var path = 0..<0
    private var authority = 0..<0
    private var lineEnd = -1
    private var hasTwoHosts = false
    /// Bytes of all fields, also of those that are not kept.
    private(set) var decodedBytes = 0

    /// Prepares for another request.
    mutating func reset() {
        text.clear(keepingAtMost: 4096)
        cookie.clear(keepingAtMost: 1024)
        pseudo.clear(keepingAtMost: 1024)
        fields.removeAll(keepingCapacity: true)
        method = 0..<0
        path = 0..<0
        authority = 0..<0
        lineEnd = -1
        hasTwoHosts = false
        decodedBytes = 0
    }

    /// Frees the memory.
    mutating func release() {
        reset()
        text.clear(keepingAtMost: 0)
        cookie.clear(keepingAtMost: 0)
        pseudo.clear(keepingAtMost: 0)
        fields = []
    }

    /// Adds a field.
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, bytesMax: Int) {
        decodedBytes += name.count + value.count + 4
        guard decodedBytes <= bytesMax, let first = name.first else { return }
        if first == UInt8(ascii: ":") {
            let range = pseudo.count..<pseudo.count + value.count
            pseudo.append(UnsafeRawBufferPointer(value))
            switch name.count {
            case 5: path = range
            case 7 where name[1] == UInt8(ascii: "m"): method = range
            case 10: authority = range
            default: break
            }
        } else if name.count == 6, name.equalsIgnoringCase(lowercase: "cookie") {
            // A client may cut the field into pieces (RFC 9113 section 8.2.3).
            if !cookie.isEmpty { cookie.append("; ") }
            cookie.append(UnsafeRawBufferPointer(value))
        } else {
            writeLine()
            if !authority.isEmpty, name.count == 4, name.equalsIgnoringCase(lowercase: "host") { return compareHost(value) }
            append(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer(value))
        }
    }

    /// A Host field beside `:authority` must name the same host (RFC 9113 section 8.3.1).
    private mutating func compareHost(_ value: UnsafeBufferPointer<UInt8>) {
        let isSame = pseudo.withUnsafeBytes { pseudo in
            let host = UnsafeRawBufferPointer(rebasing: pseudo[authority])
            return host.count == value.count && zip(host, value).allSatisfy { Self.lowercase($0) == Self.lowercase($1) }
        }
        if !isSame { hasTwoHosts = true }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

    private mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        var field = RequestHead.Field()
        field.name = RequestHead.Part(offset: UInt32(text.count), count: UInt32(name.count))
        text.append(name)
        text.append(": ")
        field.value = RequestHead.Part(offset: UInt32(text.count), count: UInt32(value.count))
        text.append(value)
        text.append("\r\n")
        fields.append(field)
    }

    /// Writes the request line and the host, before the first other field.
    private mutating func writeLine() {
        guard lineEnd < 0 else { return }
        pseudo.withUnsafeBytes { pseudo in
            text.append(UnsafeRawBufferPointer(rebasing: pseudo[method]))
            text.append(" ")
            text.append(UnsafeRawBufferPointer(rebasing: pseudo[path]))
            text.append(" HTTP/1.1\r\n")
        }
        lineEnd = text.count - 2
        guard !authority.isEmpty else { return }
        var field = RequestHead.Field()
        field.name = RequestHead.Part(offset: UInt32(text.count), count: 4)
        text.append("host: ")
        field.value = RequestHead.Part(offset: UInt32(text.count), count: UInt32(authority.count))
        pseudo.withUnsafeBytes { text.append(UnsafeRawBufferPointer(rebasing: $0[authority])) }
        text.append("\r\n")
        fields.append(field)
    }

    /// Fills in `head`.
    ///
    /// - Returns: the reason to refuse the request.
    mutating func load(into head: inout RequestHead, _ limits: HTTPLimits) -> HTTPRefusal? {
        writeLine()
        if !cookie.isEmpty {
            var whole = ByteBuffer()
            swap(&whole, &cookie)
            let name: StaticString = "cookie"
            whole.withUnsafeBytes { append(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), $0) }
            swap(&whole, &cookie)
        }
        text.append("\r\n")
        text.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            head.load(base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        }
        head.target = RequestHead.Part(offset: UInt32(method.count + 1), count: UInt32(path.count))
        for field in fields {
            head.appendField(name: field.name)
            head.setLastValue(field.value)
        }
        if let found = HTTPMethod(name: head.slice(RequestHead.Part(offset: 0, count: UInt32(method.count)))) { head.method = found }
        return refusal(of: &head, limits)
    }

    private func refusal(of head: inout RequestHead, _ limits: HTTPLimits) -> HTTPRefusal? {
        if head.target.count > limits.targetBytesMax { return .targetTooLong }
        if decodedBytes > limits.headBytesMax { return .headTooLarge }
        guard let known = HTTPMethod(name: head.slice(RequestHead.Part(offset: 0, count: UInt32(method.count)))) else {
            return HTTPRefusal(.notImplemented, "the method is not known")
        }
        if known == .connect { return HTTPRefusal(.notImplemented, "CONNECT is not supported") }
        if hasTwoHosts { return .badRequest("the Host field and the authority differ") }
        return HeadRules.apply(to: &head, requestLineEnd: lineEnd, limits: limits)
    }
}

extension HTTPMethod {
    /// The method with this name; nil if it is not known.
    init?(name: UnsafeBufferPointer<UInt8>) {
        for number in Self.numbers {
            guard let known = llhttp_method_name(llhttp_method(number)), let base = name.baseAddress else { continue }
            if strlen(known) == name.count, memcmp(known, base, name.count) == 0 {
                self.init(rawValue: UInt8(number))
                return
            }
        }
        return nil
    }

    /// llhttp's numbers for the methods of HTTP, the usual ones first.
    private static let numbers: [UInt32] = [HTTP_POST.rawValue, HTTP_GET.rawValue] + Array(0...HTTP_SOURCE.rawValue)
}
