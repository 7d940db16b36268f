/// Finds the end of a request's head in bytes that arrive piece by piece, and refuses what no head may contain.
///
/// Each byte is looked at once, however small the pieces. This is stricter than the parser behind it: a line ends with
/// CR LF and nothing else (RFC 9112 section 2.2 allows a bare LF, and two servers that disagree about it are how requests
/// are smuggled), a line is never continued on the next (section 5.2), and no control character is let through.
struct HeadScan {
    private(set) var position = 0
    private var lineStart = 0
    /// Where the request line's CR is, or -1 before it was seen.
    private(set) var requestLineEnd = -1

    enum Outcome {
        case incomplete
        /// The head is the first `count` bytes.
        case complete(count: Int)
        case refused(HTTPRefusal)
    }

    /// Goes on with `count` bytes at `base`, which begin with those of the calls before.
    mutating func advance(_ base: UnsafePointer<UInt8>, count: Int) -> Outcome {
        while true {
            let index = Self.nextControl(base, from: position, count: count)
            position = index
            guard index < count else { return .incomplete }
            switch base[index] {
            case 0x0D:
                guard index + 1 < count else { return .incomplete }
                guard base[index + 1] == 0x0A else { return .refused(.badRequest("a CR stands without its LF")) }
                if index == lineStart { return .complete(count: index + 2) }
                let first = base[lineStart]
                guard first != 0x20, first != 0x09 else {
                    return .refused(.badRequest("a line of the head begins with white space"))
                }
                if requestLineEnd < 0 { requestLineEnd = index }
                position = index + 2
                lineStart = position
            case 0x0A:
                return .refused(.badRequest("a LF stands without its CR"))
            case 0x09:
                position = index + 1
            default:
                return .refused(.badRequest("the head contains a control character"))
            }
        }
    }

    /// The index of the first control character at or after `start`, eight bytes at a time where there are eight.
    @inline(__always)
    private static func nextControl(_ base: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int {
        var index = start
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while index + 8 <= count {
            let word = UInt64(littleEndian: UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self))
            let delete = word ^ (ones &* 0x7F)
            let hits = ((word &- ones &* 0x20) & ~word | (delete &- ones) & ~delete) & highs
            if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, base[index] >= 0x20, base[index] != 0x7F { index += 1 }
        return index
    }
}
