import HearthBytes
import HearthJSON
import HTTP

/// The head of an HTTP answer, which a plugin writes as `{"status": 200, "headers": [name, value, ...]}`.
package struct ResponseDescription {
    package let status: HTTPStatus
    package let headers: [(String, String)]

    /// The first digit of the status in a head; 0 for an invalid head.
    static func statusClass(_ bytes: Span<UInt8>) -> Int {
        let usual: StaticString = "{\"status\":"
        let size = usual.utf8CodeUnitCount
        if bytes.count > size + 2, bytes.extracting(0..<size).equals(usual), bytes[size] &- 0x32 < 4, bytes[size + 3] &- 0x30 > 9 {
            return Int(bytes[size] &- 0x30)
        }
        return ResponseDescription(bytes).map { $0.status.rawValue / 100 } ?? 0
    }

    /// Parses a head.
    ///
    /// - Returns: nil for an invalid head, or one without a final status (200 to 599).
    package init?(_ bytes: Span<UInt8>) {
        guard let object = (try? JSONValue(parsing: bytes))?.object else { return nil }
        // An invalid status is an error; an absent one means 200.
        let status = object["status"].map { $0.int ?? 0 } ?? 200
        guard (200...599).contains(status) else { return nil }
        let words = object["headers"]?.array ?? []
        guard words.count % 2 == 0 else { return nil }
        var headers: [(String, String)] = []
        for index in stride(from: 0, to: words.count, by: 2) {
            guard let name = words[index].string, let value = words[index + 1].string else { return nil }
            headers.append((name, value))
        }
        self.status = HTTPStatus(rawValue: status)
        self.headers = headers
    }
}
