import Tree

/// A pattern for the paths of a function: `users/{id}/name`, `logs/*/{rest=**}` (spec functions 8.2).
public struct PathPattern: Sendable, Hashable {
    /// The part of a pattern between two `/`.
    struct Segment: Sendable, Hashable {
        var shape: Shape
        /// The name of the parameter that it captures.
        var capture: String?
    }

    /// The keys that a segment matches.
    enum Shape: Sendable, Hashable {
        /// Exactly this key.
        case literal(String)
        /// Any key.
        case any
        /// A key that matches this glob.
        case glob(Glob)
        /// Any number of keys.
        case many
    }

    let segments: [Segment]
    /// The pattern without leading, trailing and repeated slashes.
    public let text: String
    /// The position of the segment that matches any number of keys.
    let manyIndex: Int?

    init(segments: [Segment], text: String) {
        self.segments = segments
        self.text = text
        manyIndex = segments.firstIndex { $0.shape == .many }
    }

    /// Whether it matches `path`.
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

    /// The captured parameters in `path`, which must match. The segments after `**` are counted from the end.
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
