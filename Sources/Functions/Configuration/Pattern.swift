/// A regular expression that is matched in time linear in the text, for every expression and text.
///
/// The syntax is the common subset of JavaScript, JSON Schema and RE2: literals, `.`, classes, `\d \w \s \b`, groups, `|`, `^ $` and
/// counted repetitions. Constructs that need backtracking (look-around, back-references) are refused.
public struct Pattern: Sendable, Hashable, CustomStringConvertible {
    /// The text of the expression.
    public let source: String
    /// Whether the case of ASCII letters is ignored.
    public let ignoresCase: Bool
    private let program: [PatternInstruction]

    /// - Parameter ignoresCase: ignores the case of ASCII letters.
    public init(_ source: String, ignoringCase: Bool = false) throws(PatternError) {
        self.source = source
        ignoresCase = ignoringCase
        program = try PatternCompiler.compile(source, ignoringCase: ignoringCase)
    }

    public var description: String { source }

    /// The cost in memory and time, in instructions.
    var size: Int { program.count }

    public static func == (left: Pattern, right: Pattern) -> Bool {
        left.source == right.source && left.ignoresCase == right.ignoresCase
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(ignoresCase)
    }

    /// Whether the pattern matches anywhere in the text; `^` and `$` anchor it.
    public func matches(_ text: String) -> Bool {
        var current = PatternThreads(capacity: program.count)
        var next = PatternThreads(capacity: program.count)
        var previous: Unicode.Scalar?
        var scalars = text.unicodeScalars.makeIterator()
        var scalar = scalars.next()
        while true {
            // A match may begin anywhere, so a new thread starts at each position.
            if current.follow(0, in: program, previous: previous, next: scalar) { return true }
            guard let read = scalar else { return false }
            let following = scalars.next()
            let folded = ignoresCase ? read.lowercasedASCII : read
            for thread in current.list where program[thread].accepts(folded) {
                if next.follow(thread + 1, in: program, previous: read, next: following) { return true }
            }
            swap(&current, &next)
            next.removeAll()
            previous = read
            scalar = following
        }
    }
}

/// The reason why a pattern was refused.
public struct PatternError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One clause, such as `look-around (?=…) is not supported`.
    public var description: String
}

enum PatternInstruction: Sendable {
    case scalar(Unicode.Scalar)
    case any
    case set(PatternSet)
    case split(Int, Int)
    case jump(Int)
    case start
    case end
    case wordBoundary(isNegated: Bool)
    case match

    func accepts(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .scalar(let expected): scalar == expected
        case .any: scalar != "\n" && scalar != "\r"
        case .set(let set): set.contains(scalar)
        default: false
        }
    }
}

/// A class such as `[a-z\d_]`.
struct PatternSet: Sendable {
    var ranges: [ClosedRange<UInt32>] = []
    var isNegated = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        ranges.contains { $0.contains(scalar.value) } != isNegated
    }
}

/// The set of current program positions.
private struct PatternThreads {
    private(set) var list: [Int] = []
    /// The round in which each position was last added, so that starting a round costs nothing.
    private var rounds: [Int]
    private var round = 1

    init(capacity: Int) {
        rounds = Array(repeating: 0, count: capacity)
    }

    mutating func removeAll() {
        round += 1
        list.removeAll(keepingCapacity: true)
    }

    /// Adds the position and all that are reachable from it without input. True if the match is complete.
    mutating func follow(_ first: Int, in program: [PatternInstruction], previous: Unicode.Scalar?, next: Unicode.Scalar?) -> Bool {
        var pending = [first]
        while let place = pending.popLast() {
            if rounds[place] == round { continue }
            rounds[place] = round
            switch program[place] {
            case .match: return true
            case .jump(let target): pending.append(target)
            case .split(let left, let right): pending += [right, left]
            case .start: if previous == nil { pending.append(place + 1) }
            case .end: if next == nil { pending.append(place + 1) }
            case .wordBoundary(let isNegated):
                let isBoundary = (previous?.isWord ?? false) != (next?.isWord ?? false)
                if isBoundary != isNegated { pending.append(place + 1) }
            case .scalar, .any, .set: list.append(place)
            }
        }
        return false
    }
}

extension Unicode.Scalar {
    var lowercasedASCII: Unicode.Scalar {
        ("A"..."Z").contains(self) ? Unicode.Scalar(UInt8(value) | 0x20) : self
    }

    var isWord: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self) || self == "_"
    }
}
