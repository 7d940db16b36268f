import Tree

/// A client's statement of the part of a node that it has: hashes of ranges of its leaves (spec database 3.6, `ch`).
package struct RangeHashes: Sendable {
    /// The paths of the last leaves of the ranges, as the client wrote them. One range more than these follows the last one.
    package let texts: [String]
    /// The hashes of the ranges; the empty text for one without leaves.
    package let hashes: [String]
    /// The places of `texts`, in the order of leaves.
    let posts: [[UInt8]]
    /// Whether some key is an integer that not all clients sort as one.
    let hasDisputedKey: Bool
    /// The memory that it takes, about.
    package let heldBytes: Int

    /// The key that stands for the priority of a node with children.
    static let priorityKey = ".priority"
    static let priorityKeyBytes = Array(priorityKey.utf8)
    /// The segment of this key in a ``PathKey``.
    static let prioritySegment = PathKey.root.appending(priorityKey).bytes

    /// The mistake of a statement, as a sentence.
    package struct Fault: Error, Equatable {
        package var reason: String
    }

    /// - Parameter texts: paths relative to the node. The last key may be `.priority`.
    /// - Throws: `Fault` if it is not what a client could say.
    package init(texts: [String], hashes: [String]) throws(Fault) {
        guard hashes.count == texts.count + 1 else { throw Fault(reason: "\"ch\" must have one hash more than paths") }
        var posts: [[UInt8]] = []
        posts.reserveCapacity(texts.count)
        for text in texts { posts.append(try Self.place(of: text)) }
        hasDisputedKey = posts.contains { DisputedKeys.areIn($0.span) }
        for index in posts.indices.dropFirst() where !hasDisputedKey && !posts[index - 1].lexicographicallyPrecedes(posts[index]) {
            throw Fault(reason: "the paths of \"ch\" must be in the order of their keys")
        }
        heldBytes = zip(texts, posts).reduce(hashes.count * 128) { $0 + $1.0.utf8.count + $1.1.count + 64 }
        self.texts = texts
        self.hashes = hashes
        self.posts = posts
    }

    private static func place(of text: String) throws(Fault) -> [UInt8] {
        var keys = text.split(separator: "/").map { String($0) }
        let isPriority = keys.last == priorityKey
        if isPriority { keys.removeLast() }
        let path: Path
        do throws(PathError) { path = try Path(parsing: keys.joined(separator: "/")) } catch { throw Fault(reason: error.message) }
        return isPriority ? path.key.appending(priorityKey).bytes : path.key.bytes
    }
}

/// Keys that are integers here and for web clients, but texts for those of devices, because of their many zeros (spec database 10.1).
enum DisputedKeys {
    /// Clients of devices take longer keys as texts.
    private static let charactersMax = 11

    /// Whether the key of a segment, whose length is known, is one.
    static func contain(_ row: Span<UInt8>, _ segment: Range<Int>, characters: Int) -> Bool {
        characters > charactersMax && PathKey.isInteger(row, segment)
    }

    /// Whether there is one in a path.
    static func areIn(_ path: Span<UInt8>) -> Bool {
        var start = 0
        while let end = PathKey.segmentEnd(path, from: start) {
            if contain(path, start..<end, characters: PathKey.decodeSegment(path, start..<end).utf8.count) { return true }
            start = end
        }
        return false
    }
}

/// Neighbouring ranges whose leaves differ from the client's.
struct RangeRun: Equatable {
    /// The indexes of the ranges.
    var ranges: ClosedRange<Int>
}
