import HearthBytes
import HearthJSON
import HTTP

/// `{"status": 200, "headers": [name, value, ...]}`, as a plugin begins an HTTP answer.
package struct ResponseDescription {
    package let status: HTTPStatus
    package let headers: [(String, String)]

    /// The first digit of a head's status; 0 for what is no head.
    static func statusClass(_ bytes: Span<UInt8>) -> Int {
        let usual: StaticString = "{\"status\":"
        let size = usual.utf8CodeUnitCount
        if bytes.count > size + 2, bytes.extracting(0..<size).equals(usual), bytes[size] &- 0x32 < 4, bytes[size + 3] &- 0x30 > 9 {
            return Int(bytes[size] &- 0x30)
        }
        return ResponseDescription(bytes).map { $0.status.rawValue / 100 } ?? 0
    }

    /// - Returns: nil for anything else than that, and for a status that is no final one.
    package init?(_ bytes: Span<UInt8>) {
        guard let object = (try? JSONValue(parsing: bytes))?.object else { return nil }
        // A number that is no status, or no number, is not the same as none.
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
