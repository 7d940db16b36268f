import CLLHTTP
import Glibc
import HearthBytes

/// The head of a request: its bytes, and the offsets of its parts.
///
/// The memory belongs to the exchange and returns to the server's pool with it, so that an idle connection has none.
struct RequestHead: ~Copyable {
    /// Offset and length of a part, relative to the head's first byte.
    struct Part {
        var offset: UInt32 = 0
        var count: UInt32 = 0
    }

    struct Field {
        var name = Part()
        var value = Part()
    }

    enum Expectation { case none, continueFirst, unknown }
    enum ContentCoding { case identity, gzip, deflate, unknown }

    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity = 1024
    private(set) var fields: UnsafeMutablePointer<Field>
    private(set) var fieldCount = 0
    private var fieldCapacity = 24
    /// One bit for each length of a field name. Most names that are looked up are absent; this answers without a search.
    private var nameLengths: UInt64 = 0

    var method = HTTPMethod.get
    var minorVersion = 1
    var target = Part()
    var path = Part()
    var query = Part()
    var host = Part()
    /// The value of Content-Length, or -1 where there is none.
    var contentLength = -1
    var isChunked = false
    var isKeepAlive = true
    var expectation = Expectation.none
    var contentCoding = ContentCoding.identity

    init() {
        bytes = .allocate(capacity: capacity)
        fields = .allocate(capacity: fieldCapacity)
    }

    deinit {
        bytes.deallocate()
        fields.deallocate()
    }

    /// Copies the bytes of a complete head; reserves one more byte for `appendSlash`.
    mutating func load(_ source: UnsafePointer<UInt8>, count: Int) {
        if count >= capacity {
            bytes.deallocate()
            capacity = count + 1
            bytes = .allocate(capacity: capacity)
        }
        memcpy(bytes, source, count)
        self.count = count
        fieldCount = 0
        nameLengths = 0
        method = .get
        minorVersion = 1
        target = Part()
        path = Part()
        query = Part()
        host = Part()
        contentLength = -1
        isChunked = false
        isKeepAlive = true
        expectation = .none
        contentCoding = .identity
    }

    /// A path of `/`, for a target without a path.
    mutating func appendSlash() -> Part {
        bytes[count] = UInt8(ascii: "/")
        return Part(offset: UInt32(count), count: 1)
    }

    mutating func appendField(name: Part) {
        if fieldCount == fieldCapacity {
            let grown = UnsafeMutablePointer<Field>.allocate(capacity: fieldCapacity * 2)
            grown.update(from: fields, count: fieldCount)
            fields.deallocate()
            fields = grown
            fieldCapacity *= 2
        }
        nameLengths |= 1 << UInt64(min(name.count, 63))
        fields[fieldCount] = Field(name: name, value: Part())
        fieldCount += 1
    }

    /// Sets the value of the newest field, without surrounding white space; or continues it until the end of `value`.
    mutating func setLastValue(_ value: Part) {
        guard fieldCount > 0 else { return }
        let begun = fields[fieldCount - 1].value
        var value = begun.count > 0 ? Part(offset: begun.offset, count: value.offset + value.count - begun.offset) : value
        while value.count > 0, isBlank(bytes[Int(value.offset + value.count) - 1]) { value.count -= 1 }
        while value.count > 0, isBlank(bytes[Int(value.offset)]) {
            value.offset += 1
            value.count -= 1
        }
        fields[fieldCount - 1].value = value
    }

    mutating func setValue(_ value: Part, at index: Int) { fields[index].value = value }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The bytes of `part`, valid until the head is loaded again.
    @inline(__always)
    func slice(_ part: Part) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: bytes + Int(part.offset), count: Int(part.count))
    }

    /// The value of the first field with this name, given in lower case.
    func value(of name: StaticString) -> Part? {
        let length = name.utf8CodeUnitCount
        guard length > 0, nameLengths & (1 << UInt64(min(length, 63))) != 0 else { return nil }
        let first = name.utf8Start[0]
        for index in 0..<fieldCount {
            let field = fields[index].name
            guard Int(field.count) == length, bytes[Int(field.offset)] | 0x20 == first | 0x20 else { continue }
            if slice(field).equalsIgnoringCase(lowercase: name) { return fields[index].value }
        }
        return nil
    }
}

extension UnsafeBufferPointer where Element == UInt8 {
    /// Whether the bytes equal `text`, given in lower case, ignoring the case of ASCII letters.
    @inline(__always)
    func equalsIgnoringCase(lowercase text: StaticString) -> Bool {
        Span(_unsafeElements: self).equalsIgnoringCase(lowercase: text)
    }
}

/// A request's method: one of the names below, or another one that the parser knows.
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// llhttp's number.
    public let rawValue: UInt8

    /// The method with llhttp's number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The methods that servers commonly distinguish.
    public static let delete = HTTPMethod(HTTP_DELETE)
    public static let get = HTTPMethod(HTTP_GET)
    public static let head = HTTPMethod(HTTP_HEAD)
    public static let post = HTTPMethod(HTTP_POST)
    public static let put = HTTPMethod(HTTP_PUT)
    public static let connect = HTTPMethod(HTTP_CONNECT)
    public static let options = HTTPMethod(HTTP_OPTIONS)
    public static let trace = HTTPMethod(HTTP_TRACE)
    public static let patch = HTTPMethod(HTTP_PATCH)

    init(_ method: llhttp_method) { rawValue = UInt8(truncatingIfNeeded: method.rawValue) }

    /// The name in capitals, for example `POST`.
    public var description: String { String(cString: llhttp_method_name(llhttp_method(UInt32(rawValue)))) }
}

/// Character classes of heads.
enum FieldSyntax {
    /// Whether `byte` may be part of a method or a field name (RFC 9110 section 5.6.2).
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x5E...0x7A, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Whether `byte` may be part of a Host field: a name, an address, a port (RFC 3986 section 3.2.2, without user info).
    static func isAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x2D, 0x2E, 0x5F, 0x7E, 0x3A, 0x5B, 0x5D, 0x25, 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
        default: false
        }
    }
}
