/// The body of an update: an object of paths and values (spec database 2.2).
public struct UpdateDraft: Sendable {
    /// The values by path, relative to the location of the update; an empty node deletes. No path contains another.
    public var members: [(path: Path, draft: Draft)]
    /// New priorities by path, from keys that end in `.priority`. The draft's node is a number, a string or empty.
    public var priorities: [(path: Path, draft: Draft)]

    /// An update whose paths do not contain one another, which the caller guarantees.
    public init(members: [(path: Path, draft: Draft)], priorities: [(path: Path, draft: Draft)] = []) {
        self.members = members
        self.priorities = priorities
    }

    /// Whether the update is `{}`.
    public var isEmpty: Bool { members.isEmpty && priorities.isEmpty }

    /// Parses the body of an update. Leading and trailing slashes of a key are ignored; repeated slashes count as one.
    public init(parsing text: Span<UInt8>, limits: DraftLimits = DraftLimits()) throws(NodeError) {
        self.init(members: [])
        try text.withUnsafeBufferPointer { (text) throws(NodeError) in
            var parser = try DraftParser(text, limits: limits)
            guard parser.peek() == UInt8(ascii: "{") else { throw Self.notAnObject(text.span) }
            try parser.update { (place, draft) throws(NodeError) in
                guard place.isPriority else { return members.append((place.path, draft)) }
                guard draft.isPriority else { throw NodeError(kind: .badPriority) }
                priorities.append((place.path, draft))
            }
            try parser.end()
        }
        try checkConflicts()
    }

    /// The error for a text that does not begin with an object: not an object, or not JSON.
    private static func notAnObject(_ text: Span<UInt8>) -> NodeError {
        do {
            _ = try Draft(parsing: text)
            return NodeError(kind: .notAnObject)
        } catch {
            return error
        }
    }

    private func checkConflicts() throws(NodeError) {
        guard members.count + priorities.count > 1 else { return }
        var paths = members.map(\.path)
        for member in priorities { paths.append(member.path.appending(".priority")) }
        paths.sort()
        // Descendants sort directly after their ancestor.
        for index in paths.indices.dropFirst() where paths[index - 1].contains(paths[index]) {
            throw NodeError(kind: .conflictingPaths(paths[index - 1].description, paths[index].description))
        }
    }
}

extension DraftParser {
    /// Parses the object at the position, with paths as keys, and passes each member to `body`.
    fileprivate mutating func update(_ body: (Location, Draft) throws(NodeError) -> Void) throws(NodeError) {
        position += 1
        skipWhitespace()
        if peek() == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            let place = try location()
            skipWhitespace()
            try expect(UInt8(ascii: ":"))
            skipWhitespace()
            let node = try value(depth: limits.depthAbove + place.path.count)
            // With its path, a member takes as much memory as several children.
            for _ in 0..<3 { try countNode() }
            try body(place, draft(of: node))
            skipWhitespace()
            guard peek() == UInt8(ascii: ",") else { return try expect(UInt8(ascii: "}")) }
            position += 1
            skipWhitespace()
        }
    }

    private mutating func location() throws(NodeError) -> Location {
        let start = position
        let key = try rawString()
        let place: Location
        do {
            place = try Location(parsing: key.utf8.span)
        } catch {
            switch error.kind {
            case .invalidToken: throw NodeError.badKey(at: start, in: text.span)
            case .keyTooLong: throw NodeError(kind: .keyTooLong(bytesMax: limits.keyBytesMax))
            case .tooDeep: throw NodeError(kind: .tooDeep(levelsMax: limits.depthMax))
            }
        }
        guard place.isPriority || !place.path.isRoot else { throw NodeError.badKey(at: start, in: text.span) }
        guard limits.depthAbove + place.path.count <= limits.depthMax else {
            throw NodeError(kind: .tooDeep(levelsMax: limits.depthMax))
        }
        return place
    }
}
