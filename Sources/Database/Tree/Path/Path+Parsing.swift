extension Path {
    /// Parses the path of a request: keys separated by slashes. Repeated slashes count as one; leading and trailing ones are ignored.
    ///
    /// With `percentEncoded`, escapes are decoded first, so that `%2F` separates keys as `/` does.
    public init(parsing text: Span<UInt8>, percentEncoded: Bool = false) throws(PathError) {
        self = try text.withUnsafeBufferPointer { (text) throws(PathError) -> Path in
            if percentEncoded, text.contains(UInt8(ascii: "%")) {
                guard let decoded = PercentEncoding.decoded(text) else { throw PathError(kind: .invalidToken) }
                return try decoded.withUnsafeBufferPointer { (text) throws(PathError) in try PathParser(text).path() }
            }
            return try PathParser(text).path()
        }
    }

    /// Parses a path: keys separated by slashes. Repeated slashes count as one; leading and trailing ones are ignored.
    public init(parsing text: String) throws(PathError) {
        var text = text
        let result = text.withUTF8 { text in Result { () throws(PathError) in try PathParser(text).path() } }
        self = try result.get()
    }

    /// Whether `key` is a valid child name: not empty, not too long, without forbidden characters.
    public static func isValid(key: String) -> Bool {
        var key = key
        return key.withUTF8 { KeyCharacters.areValid($0) && $0.count <= keyBytesMax }
    }
}

/// The target of a request: a node, or only its priority if the path ends in `.priority` (spec database 1.3).
public struct Location: Sendable, Hashable {
    /// The node.
    public var path: Path
    /// Whether the target is only the node's priority.
    public var isPriority: Bool

    /// A node, or its priority.
    public init(path: Path, isPriority: Bool = false) {
        self.path = path
        self.isPriority = isPriority
    }

    /// Parses a path as `Path` does; the last key may be `.priority`.
    public init(parsing text: Span<UInt8>, percentEncoded: Bool = false) throws(PathError) {
        self = try text.withUnsafeBufferPointer { (text) throws(PathError) -> Location in
            guard percentEncoded, text.contains(UInt8(ascii: "%")) else { return try PathParser(text).location() }
            guard let decoded = PercentEncoding.decoded(text) else { throw PathError(kind: .invalidToken) }
            return try decoded.withUnsafeBufferPointer { (text) throws(PathError) in try PathParser(text).location() }
        }
    }
}

/// A parser for the text of a path.
struct PathParser {
    private let text: UnsafeBufferPointer<UInt8>

    init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    func path() throws(PathError) -> Path { try path(to: text.count) }

    func location() throws(PathError) -> Location {
        var end = text.count
        while end > 0, text[end - 1] == UInt8(ascii: "/") { end -= 1 }
        let name: StaticString = ".priority"
        let start = end - name.utf8CodeUnitCount
        guard start >= 0, start == 0 || text[start - 1] == UInt8(ascii: "/") else { return Location(path: try path(to: end)) }
        for index in start..<end where text[index] != name.utf8Start[index - start] { return Location(path: try path(to: end)) }
        return Location(path: try path(to: start), isPriority: true)
    }

    private func path(to end: Int) throws(PathError) -> Path {
        var segments: [String] = []
        var index = 0
        while index < end {
            if text[index] == UInt8(ascii: "/") {
                index += 1
                continue
            }
            if segments.isEmpty { segments.reserveCapacity(separators(from: index, to: end) + 1) }
            let start = index
            while index < end, text[index] != UInt8(ascii: "/") {
                guard !KeyCharacters.isForbidden(text[index]) else { throw PathError(kind: .invalidToken) }
                index += 1
            }
            guard index - start <= Path.keyBytesMax else { throw PathError(kind: .keyTooLong) }
            guard segments.count < Path.depthMax else { throw PathError(kind: .tooDeep) }
            guard let key = UTF8Text.string(UnsafeBufferPointer(rebasing: text[start..<index])) else {
                throw PathError(kind: .invalidToken)
            }
            segments.append(key)
        }
        return Path(segments)
    }

    private func separators(from start: Int, to end: Int) -> Int {
        var count = 0
        for index in start..<end where text[index] == UInt8(ascii: "/") { count += 1 }
        return min(count, Path.depthMax)
    }
}

/// Percent-encoding of RFC 3986 section 2.1.
public enum PercentEncoding {
    /// The decoded bytes; nil when a `%` is not followed by two hexadecimal digits.
    ///
    /// - Parameter plusIsSpace: whether `+` means a space, as in queries of forms and most libraries.
    public static func decoded(_ text: Span<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        text.withUnsafeBufferPointer { decoded($0, plusIsSpace: plusIsSpace) }
    }

    static func decoded(_ text: UnsafeBufferPointer<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "%") else {
                bytes.append(plusIsSpace && text[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : text[index])
                index += 1
                continue
            }
            guard index + 2 < text.count, let high = digit(text[index + 1]), let low = digit(text[index + 2]) else { return nil }
            bytes.append(high << 4 | low)
            index += 3
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
