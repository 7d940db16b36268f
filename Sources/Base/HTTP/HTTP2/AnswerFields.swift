import CNGHTTP2
import EventLoop
import Glibc
import HearthBytes

extension HTTP2Service {
    /// Gathers the fields of an answer from ``HTTPServer/fieldLines``, whose names it turns into lower case (RFC 9113 section 8.2.1).
    func gatherFields(_ status: HTTPStatus, _ server: HTTPServer) {
        fields.removeAll(keepingCapacity: true)
        for (index, divisor) in [100, 10, 1].enumerated() { statusDigits[index] = UInt8(48 + status.rawValue / divisor % 10) }
        append(Self.statusName.utf8Start, Self.statusName.utf8CodeUnitCount, statusDigits, 3)
        server.fieldLines.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            // The buffer is this function's alone until the fields are submitted, which copies them.
            let text = UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: UInt8.self)
            var start = 0
            while start < bytes.count, let found = memchr(text + start, 0x0A, bytes.count - start) {
                let end = UnsafeRawPointer(found) - UnsafeRawPointer(text)
                appendLine(text + start, end - start - 1)
                start = end + 1
            }
        }
    }

    private static let statusName: StaticString = ":status"

    /// Appends `Name: value`.
    private func appendLine(_ line: UnsafeMutablePointer<UInt8>, _ count: Int) {
        var nameCount = 0
        while nameCount < count, line[nameCount] != UInt8(ascii: ":") {
            if line[nameCount] &- UInt8(ascii: "A") < 26 { line[nameCount] |= 0x20 }
            nameCount += 1
        }
        // The space after the colon.
        let valueStart = min(nameCount + 2, count)
        guard nameCount > 0, !Self.isOfConnections(UnsafeBufferPointer(start: line, count: nameCount)) else { return }
        append(line, nameCount, line + valueStart, count - valueStart)
    }

    /// Whether a field is about the connection, which has no meaning in HTTP/2 (RFC 9113 section 8.2.2). ``ResponseHead`` leaves the others out.
    private static func isOfConnections(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.count == 16 && name.equalsIgnoringCase(lowercase: "proxy-connection")
    }

    private func append(_ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>, _ valueCount: Int) {
        fields.append(
            nghttp2_nv(
                name: UnsafeMutablePointer(mutating: name), value: UnsafeMutablePointer(mutating: value), namelen: nameCount, valuelen: valueCount,
                flags: 0))
    }
}
