/// The pattern of a route's path: fixed segments, `{name}` for one segment, and `{name...}` at the end for all that are left.
struct RoutePattern: Sendable, Equatable {
    enum Segment: Sendable, Equatable {
        case fixed(String)
        case parameter(String)
        case rest(String)
    }

    let segments: [Segment]

    /// The reason why a text is no pattern, as a phrase.
    struct Problem: Error, Equatable {
        let text: String
    }

    init(segments: [Segment]) { self.segments = segments }

    /// Reads a pattern such as `/rooms/{room}/messages`. A slash at the start or the end makes no difference.
    init(_ text: String) throws(Problem) {
        var segments: [Segment] = []
        var names: Set<String> = []
        let parts = text.split(separator: "/", omittingEmptySubsequences: true)
        for (index, part) in parts.enumerated() {
            let segment = try Self.segment(part)
            switch segment {
            case .fixed: break
            case .rest where index < parts.count - 1: throw Problem(text: "\"\(part)\" stands for all that is left, so it must be the last segment")
            case .parameter(let name), .rest(let name):
                guard names.insert(name).inserted else { throw Problem(text: "it has two parameters named \"\(name)\"") }
            }
            segments.append(segment)
        }
        guard !text.contains("//") else { throw Problem(text: "it has an empty segment") }
        self.segments = segments
    }

    private static func segment(_ part: Substring) throws(Problem) -> Segment {
        guard part.hasPrefix("{"), part.hasSuffix("}") else {
            guard !part.contains(where: { "{}?#".contains($0) }) else {
                throw Problem(text: "the segment \"\(part)\" has a character that stands in no path, or a part in braces that is no whole segment")
            }
            guard part != ".", part != ".." else { throw Problem(text: "the segment \"\(part)\" occurs in no request") }
            return .fixed(String(part))
        }
        let isRest = part.hasSuffix("...}")
        let name = part.dropFirst().dropLast(isRest ? 4 : 1)
        let isName = name.utf8.allSatisfy { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x5F }
        guard let first = name.utf8.first, isName, !(0x30...0x39).contains(first) else {
            throw Problem(text: "\"\(name)\" is no name for a parameter; it needs letters, digits and underscores")
        }
        return isRest ? .rest(String(name)) : .parameter(String(name))
    }
}

/// The segments of the path of a request.
enum RoutePath {
    /// The most segments, a bound for the work of matching.
    static let segmentsMax = 64

    /// Splits a path and decodes its segments. A slash at the end makes no difference.
    ///
    /// - Throws: `invalid-argument` for an invalid `%` sequence, text that is not UTF-8, and `.` and `..`, which clients resolve themselves and
    ///   which may mean other files to a handler.
    static func segments(_ path: String) throws(HttpsError) -> [String] {
        var rest = path.utf8[...]
        if rest.first == UInt8(ascii: "/") { rest.removeFirst() }
        if rest.last == UInt8(ascii: "/") { rest.removeLast() }
        guard !rest.isEmpty else { return [] }
        let parts = rest.split(separator: UInt8(ascii: "/"), maxSplits: segmentsMax, omittingEmptySubsequences: false)
        guard parts.count <= segmentsMax else { throw HttpsError(.invalidArgument, "The path has more than \(segmentsMax) segments.") }
        var segments: [String] = []
        for part in parts {
            guard let segment = PercentText.decoded(part) else {
                throw HttpsError(.invalidArgument, "The path's segment \"\(String(Substring(part)))\" has an invalid % sequence, or is not UTF-8.")
            }
            guard segment != ".", segment != ".." else {
                throw HttpsError(.invalidArgument, "The path has a segment \"\(segment)\", which must be resolved before the request is sent.")
            }
            segments.append(segment)
        }
        return segments
    }
}

/// Decodes `%41` in paths (RFC 3986, section 2.1).
enum PercentText {
    /// The text; nil for a `%` without two hexadecimal digits, and for bytes that are not UTF-8.
    static func decoded(_ text: Substring.UTF8View) -> String? {
        guard text.contains(UInt8(ascii: "%")) else { return String(Substring(text)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
