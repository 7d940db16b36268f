import HearthBytes
import Glibc

/// Writes the header fields of an answer directly into the outbox. Valid during the call that lends it.
///
/// The server sets `Date`, `Content-Length`, `Transfer-Encoding` and `Connection`; such fields are ignored here.
public struct ResponseHead {
    private let lines: UnsafeMutablePointer<ByteBuffer>

    init(_ lines: UnsafeMutablePointer<ByteBuffer>) { self.lines = lines }

    /// Adds a field that is known to be valid.
    public func field(_ name: StaticString, _ value: StaticString) {
        lines.pointee.append(name)
        lines.pointee.append(": ")
        lines.pointee.append(value)
        lines.pointee.append("\r\n")
    }

    /// Adds a field with a value from outside; control characters in it become spaces.
    public func field(_ name: StaticString, _ value: Span<UInt8>) {
        lines.pointee.append(name)
        lines.pointee.append(": ")
        value.withUnsafeBufferPointer { appendCleaned($0) }
        lines.pointee.append("\r\n")
    }

    /// Adds a field with a number.
    public func field(_ name: StaticString, _ value: Int) {
        lines.pointee.append(name)
        lines.pointee.append(": ")
        lines.pointee.append(decimal: value)
        lines.pointee.append("\r\n")
    }

    /// Adds a field from outside. It is ignored if its name is invalid or reserved for the server.
    public func field(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let isAllowed = name.withUnsafeBufferPointer { !$0.isEmpty && $0.allSatisfy(FieldSyntax.isToken) && !Self.isOwn($0) }
        guard isAllowed else { return }
        lines.pointee.append(name)
        lines.pointee.append(": ")
        value.withUnsafeBufferPointer { appendCleaned($0) }
        lines.pointee.append("\r\n")
    }

    /// Adds a field from outside. It is ignored if its name is invalid or reserved for the server.
    public func field(_ name: String, _ value: String) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { value in field(Span(_unsafeElements: name), Span(_unsafeElements: value)) }
        }
    }

    /// CR or LF in a value from outside would allow header injection and response splitting (RFC 9110 section 5.5).
    private func appendCleaned(_ value: UnsafeBufferPointer<UInt8>) {
        lines.pointee.appendUninitialized(minimum: max(1, value.count)) { room in
            for index in 0..<value.count {
                let byte = value[index]
                room[index] = byte >= 0x20 && byte != 0x7F || byte == 0x09 ? byte : 0x20
            }
            return value.count
        }
    }

    private static func isOwn(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        switch name.count {
        case 4: name.equalsIgnoringCase(lowercase: "date")
        case 7: name.equalsIgnoringCase(lowercase: "upgrade") || name.equalsIgnoringCase(lowercase: "trailer")
        case 10: name.equalsIgnoringCase(lowercase: "connection") || name.equalsIgnoringCase(lowercase: "keep-alive")
        case 14: name.equalsIgnoringCase(lowercase: "content-length")
        case 17: name.equalsIgnoringCase(lowercase: "transfer-encoding")
        default: false
        }
    }
}

/// The `Date` line of answers, updated once a second.
struct DateLine: ~Copyable {
    /// `Date: Sun, 06 Nov 1994 08:49:37 GMT` and CR LF.
    static let count = 37

    private let text: UnsafeMutablePointer<UInt8>
    private var expiresAtMilliseconds: UInt64 = 0

    init() { text = .allocate(capacity: Self.count) }

    deinit { text.deallocate() }

    /// The current line. `nowMilliseconds` is the loop's time, which only serves to notice that a second has passed.
    @inline(__always)
    mutating func current(nowMilliseconds: UInt64) -> UnsafePointer<UInt8> {
        if nowMilliseconds >= expiresAtMilliseconds { rebuild(nowMilliseconds) }
        return UnsafePointer(text)
    }

    private mutating func rebuild(_ nowMilliseconds: UInt64) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        expiresAtMilliseconds = nowMilliseconds + 1000 - UInt64(now.tv_nsec / 1_000_000)
        write(now.tv_sec)
    }

    /// Writes the line for `seconds` since 1970 (RFC 9110 section 5.6.7).
    mutating func write(_ seconds: Int) {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days: StaticString = "SunMonTueWedThuFriSat"
        let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
        put("Date: ", at: 0)
        memcpy(text + 6, days.utf8Start + 3 * Int(parts.tm_wday), 3)
        put(", ", at: 9)
        putTwoDigits(Int(parts.tm_mday), at: 11)
        put(" ", at: 13)
        memcpy(text + 14, months.utf8Start + 3 * Int(parts.tm_mon), 3)
        put(" ", at: 17)
        let year = Int(parts.tm_year) + 1900
        putTwoDigits(year / 100, at: 18)
        putTwoDigits(year % 100, at: 20)
        put(" ", at: 22)
        putTwoDigits(Int(parts.tm_hour), at: 23)
        put(":", at: 25)
        putTwoDigits(Int(parts.tm_min), at: 26)
        put(":", at: 28)
        putTwoDigits(Int(parts.tm_sec), at: 29)
        put(" GMT\r\n", at: 31)
    }

    private func put(_ piece: StaticString, at offset: Int) { memcpy(text + offset, piece.utf8Start, piece.utf8CodeUnitCount) }

    private func putTwoDigits(_ value: Int, at offset: Int) {
        text[offset] = UInt8(48 + value / 10 % 10)
        text[offset + 1] = UInt8(48 + value % 10)
    }
}
