/// A place in the tree: the keys on the way to it from the root.
///
/// Two paths are equal when their keys have the same code points.
public struct Path: Sendable, CustomStringConvertible {
    /// The whole tree.
    public static let root = Path([])
    /// The greatest number of keys of a path, and so of levels of a tree (spec database 1.1).
    public static let depthMax = 32
    /// The greatest length of a key in UTF-8.
    public static let keyBytesMax = 768

    /// The keys, from the root's child on.
    public let segments: [String]

    /// Takes keys that are known to be valid.
    public init(_ segments: [String]) { self.segments = segments }

    /// How many keys there are: the level of the place, 0 for the root.
    public var count: Int { segments.count }
    /// Whether this is the whole tree.
    public var isRoot: Bool { segments.isEmpty }

    /// The key of the place itself; nil for the root.
    public var last: String? { segments.last }

    /// The place one level up; nil for the root.
    public var parent: Path? { isRoot ? nil : Path(Array(segments.dropLast())) }

    /// The child under `key`, which is known to be valid.
    public func appending(_ key: String) -> Path { Path(segments + CollectionOfOne(key)) }

    /// The place that `path` leads to from here.
    public func appending(_ path: Path) -> Path {
        if isRoot { return path }
        return path.isRoot ? self : Path(segments + path.segments)
    }

    /// Whether `other` is this place or below it.
    public func contains(_ other: Path) -> Bool {
        guard other.count >= count else { return false }
        for index in segments.indices where !TextOrder.equal(segments[index], other.segments[index]) { return false }
        return true
    }

    /// The way from `ancestor` to here; nil when this is neither `ancestor` nor below it.
    public func relative(to ancestor: Path) -> Path? {
        guard ancestor.contains(self) else { return nil }
        return ancestor.isRoot ? self : Path(Array(segments.dropFirst(ancestor.count)))
    }

    /// The place as the rows of the store know it. Made anew by each call.
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
    /// The order of the tree: a place comes before what is below it.
    public static func < (left: Path, right: Path) -> Bool {
        for index in 0..<min(left.count, right.count) {
            let order = KeyOrder.compare(left.segments[index], right.segments[index])
            if order != 0 { return order < 0 }
        }
        return left.count < right.count
    }
}
