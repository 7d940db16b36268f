import Tree

/// Which paths a function runs for: `users/{id}/name`, `logs/*/{rest=**}` (spec functions 8.2).
public struct PathPattern: Sendable, Hashable {
    /// One part of a pattern between two `/`.
    struct Segment: Sendable, Hashable {
        var shape: Shape
        /// The name that it gives to what it stands for.
        var capture: String?
    }

    /// What a segment stands for.
    enum Shape: Sendable, Hashable {
        /// This key.
        case literal(String)
        /// Any key.
        case any
        /// A key that looks like this.
        case glob(Glob)
        /// Any number of keys, also none.
        case many
    }

    let segments: [Segment]
    /// As it was written, without edge slashes and repeated ones.
    public let text: String
    /// Where the segment is that stands for several keys.
    let manyIndex: Int?

    init(segments: [Segment], text: String) {
        self.segments = segments
        self.text = text
        manyIndex = segments.firstIndex { $0.shape == .many }
    }

    /// Whether it stands for `path`.
    func matches(_ path: Path) -> Bool {
        let keys = path.segments
        guard let manyIndex else {
            return keys.count == segments.count && zip(segments, keys).allSatisfy { $0.shape.matches($1) }
        }
        let tail = segments.count - manyIndex - 1
        guard keys.count >= manyIndex + tail else { return false }
        return zip(segments[..<manyIndex], keys).allSatisfy { $0.shape.matches($1) }
            && zip(segments.suffix(tail), keys.suffix(tail)).allSatisfy { $0.shape.matches($1) }
    }

    /// What its names stand for in `path`, which it matches. What follows `**` is counted from the path's end.
    func parameters(in path: Path) -> [EventParameter] {
        let keys = path.segments
        var parameters: [EventParameter] = []
        for (index, segment) in segments.enumerated() {
            guard let name = segment.capture else { continue }
            let fromEnd = segments.count - index - 1
            guard let manyIndex, index >= manyIndex else {
                parameters.append(EventParameter(name: name, value: keys[index]))
                continue
            }
            let end = keys.count - fromEnd
            let value = index == manyIndex ? keys[manyIndex..<end].joined(separator: "/") : keys[end - 1]
            parameters.append(EventParameter(name: name, value: value))
        }
        return parameters
    }
}

extension PathPattern.Shape {
    func matches(_ key: String) -> Bool {
        switch self {
        case .literal(let literal): KeyOrder.areEqual(literal, key)
        case .any, .many: true
        case .glob(let glob): glob.matches(key)
        }
    }
}

extension PathPattern: CustomStringConvertible {
    public var description: String { text }
}
