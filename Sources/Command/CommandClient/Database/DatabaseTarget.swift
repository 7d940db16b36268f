/// A location in a database, for the REST interface.
public struct DatabaseTarget: Sendable, Hashable, CustomStringConvertible {
    /// The keys from the root.
    public let keys: [String]
    /// The namespace; nil for the host's default.
    public let instance: String?

    /// Parses a path. Repeated slashes count as one; leading and trailing ones are ignored.
    public init(path: String, instance: String? = nil) {
        keys = path.split(separator: "/").map(String.init)
        self.instance = instance
    }

    private init(keys: [String], instance: String?) {
        self.keys = keys
        self.instance = instance
    }

    /// The location below this one.
    public func appending(_ more: [String]) -> DatabaseTarget { DatabaseTarget(keys: keys + more, instance: instance) }

    /// The path with its leading `/`.
    public var description: String { "/" + keys.joined(separator: "/") }

    /// Checks that every key is valid.
    ///
    /// - Throws: `ClientFailure` that names the forbidden character. The host checks locations that begin with a dot, such as `/.info`, and
    ///   priorities.
    public func check() throws(ClientFailure) {
        if keys.first?.hasPrefix(".") == true { return }
        for key in keys.last == ".priority" ? keys.dropLast() : keys[...] {
            guard let wrong = key.unicodeScalars.first(where: { ".#$[]".unicodeScalars.contains($0) || $0.value < 0x20 || $0.value == 0x7F })
            else { continue }
            let name = wrong.value < 0x20 || wrong.value == 0x7F ? "a control character" : "\"\(wrong)\""
            throw ClientFailure(.invalidInput, "\(self) is not a valid path: a key cannot contain \(name), nor any of . # $ [ ] /")
        }
    }

    /// The request target.
    ///
    /// - Parameter query: names and values, not encoded yet.
    public func target(_ query: [(name: String, value: String)] = []) -> String {
        let path = "/" + keys.map(PercentCoding.encoded).joined(separator: "/") + ".json"
        let all = (instance.map { [(name: "ns", value: $0)] } ?? []) + query
        guard !all.isEmpty else { return path }
        return path + "?" + all.map { "\($0.name)=\(PercentCoding.encoded($0.value))" }.joined(separator: "&")
    }
}

/// Percent-encoding for parts of a URL (RFC 3986 section 2).
public enum PercentCoding {
    /// `text` with every character encoded except letters, digits, `-`, `.`, `_` and `~`.
    public static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}
