/// The path of a node: its keys from the root.
///
/// Paths are equal when their keys have the same code points.
public struct Path: Sendable, CustomStringConvertible {
    /// The root of the tree.
    public static let root = Path([])
    /// The most keys of a path, and so levels of a tree (spec database 1.1).
    public static let depthMax = 32
    /// The most bytes of a key in UTF-8.
    public static let keyBytesMax = 768

    /// The keys, from the root's child on.
    public let segments: [String]

    /// A path of valid keys.
    public init(_ segments: [String]) { self.segments = segments }

    /// The number of keys; 0 for the root.
    public var count: Int { segments.count }
    /// Whether this is the root.
    public var isRoot: Bool { segments.isEmpty }

    /// The last key; nil for the root.
    public var last: String? { segments.last }

    /// The path of the parent node; nil for the root.
    public var parent: Path? { isRoot ? nil : Path(Array(segments.dropLast())) }

    /// The path of the child `key`, a valid key.
    public func appending(_ key: String) -> Path { Path(segments + CollectionOfOne(key)) }

    /// The path of `path` relative to this one.
    public func appending(_ path: Path) -> Path {
        if isRoot { return path }
        return path.isRoot ? self : Path(segments + path.segments)
    }

    /// Whether `other` is this path or below it.
    public func contains(_ other: Path) -> Bool {
        guard other.count >= count else { return false }
        for index in segments.indices where !TextOrder.equal(segments[index], other.segments[index]) { return false }
        return true
    }

    /// The path relative to `ancestor`; nil if `ancestor` does not contain it.
    public func relative(to ancestor: Path) -> Path? {
        guard ancestor.contains(self) else { return nil }
        return ancestor.isRoot ? self : Path(Array(segments.dropFirst(ancestor.count)))
    }

    /// The sort key of the path in the store. Computed by each call.
    public var key: PathKey { PathKey(self) }

    /// The path as text: `/` and the keys with `/` between.
    public var description: String { "/" + segments.joined(separator: "/") }
}

extension Path: Hashable {
    public static func == (left: Path, right: Path) -> Bool { left.count == right.count && left.contains(right) }

    public func hash(into hasher: inout Hasher) {
        for segment in segments { TextOrder.hash(segment, into: &hasher) }
    }
}

extension Path: Comparable {
    /// Tree order: an ancestor sorts before its descendants.
    public static func < (left: Path, right: Path) -> Bool {
        for index in 0..<min(left.count, right.count) {
            let order = KeyOrder.compare(left.segments[index], right.segments[index])
            if order != 0 { return order < 0 }
        }
        return left.count < right.count
    }
}

/// The bytes that a key may contain (spec database 1.1): all but `.`, `$`, `#`, `[`, `]`, `/`, control characters and U+007F.
enum KeyCharacters {
    /// One bit for each of the first 64 bytes: control characters, `#`, `$`, `.` and `/`.
    private static let low: UInt64 = 0xFFFF_FFFF | 1 << 0x23 | 1 << 0x24 | 1 << 0x2E | 1 << 0x2F
    /// The same for the next 64: `[`, `]` and U+007F.
    private static let high: UInt64 = 1 << 0x1B | 1 << 0x1D | 1 << 0x3F

    @inline(__always)
    static func isForbidden(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
    }

    /// Whether a byte of a JSON string cannot be part of a key that is copied verbatim.
    @inline(__always)
    static func endsPlain(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low | 1 << 0x22 : high | 1 << 0x1C) >> UInt64(byte & 63) & 1 == 1
    }

    @inline(__always)
    static func areValid(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !key.isEmpty else { return false }
        for byte in key where isForbidden(byte) { return false }
        return true
    }
}

/// The reason why a text is not a valid path.
public struct PathError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The violated rule.
    public enum Kind: Sendable, Hashable {
        /// A forbidden character, invalid UTF-8, or a malformed percent escape.
        case invalidToken
        /// A key of more than `Path.keyBytesMax` bytes.
        case keyTooLong
        /// More than `Path.depthMax` keys.
        case tooDeep
    }

    /// The violated rule.
    public var kind: Kind

    /// An error of this kind, with the kind's text.
    public init(kind: Kind) { self.kind = kind }

    /// The error text for the client (spec database 2.6).
    public var message: String {
        switch kind {
        case .invalidToken: "Invalid path: Invalid token in path"
        case .keyTooLong: "Invalid path: A key may have at most \(Path.keyBytesMax) bytes of UTF-8"
        case .tooDeep: "Invalid path: A path may have at most \(Path.depthMax) keys"
        }
    }

    public var description: String { message }
}
