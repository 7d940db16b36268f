import RegularExpressions

/// A regular expression that is matched in time linear in the text, for every expression and text.
///
/// The syntax is the common subset of JavaScript, JSON Schema and RE2: literals, `.`, classes, `\d \w \s \b`, groups, `|`, `^ $` and
/// counted repetitions. Constructs that need backtracking (look-around, back-references) are refused, and so is what RE2 and JavaScript
/// understand differently.
public struct Pattern: Sendable, Hashable, CustomStringConvertible {
    /// The text of the expression.
    public let source: String
    /// Whether the case of letters is ignored.
    public let ignoresCase: Bool
    private let expression: RegularExpression

    /// - Parameter ignoringCase: ignores the case of letters.
    public init(_ source: String, ignoringCase: Bool = false) throws(PatternError) {
        self.source = source
        ignoresCase = ignoringCase
        let translated = try Self.translated(Array(source.utf8))
        do throws(RegularExpression.Refusal) {
            expression = try RegularExpression(translated, ignoresCase: ignoringCase)
        } catch {
            throw PatternError(description: error.reason)
        }
    }

    public var description: String { source }

    /// The cost in memory and time, in instructions.
    var size: Int { expression.size }

    public static func == (left: Pattern, right: Pattern) -> Bool {
        left.source == right.source && left.ignoresCase == right.ignoresCase
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(ignoresCase)
    }

    /// Whether the pattern matches anywhere in the text; `^` and `$` anchor it.
    public func matches(_ text: String) -> Bool { expression.matches(text) }

    /// The expression in RE2's syntax. Refuses what RE2 would accept with another meaning; RE2 itself refuses the rest.
    private static func translated(_ source: [UInt8]) throws(PatternError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(source.count + 16)
        var index = 0
        var isInClass = false
        while index < source.count {
            let byte = source[index]
            let next = index + 1 < source.count ? source[index + 1] : 0
            switch byte {
            case UInt8(ascii: "\\"):
                try checkEscape(next, isInClass: isInClass)
                // RE2 writes a character's number as \x{...}.
                if next == UInt8(ascii: "u"), index + 5 < source.count {
                    output += Array("\\x{".utf8) + source[(index + 2)..<(index + 6)] + Array("}".utf8)
                    index += 6
                } else {
                    output += [byte, next]
                    index += 2
                }
                continue
            case UInt8(ascii: "[") where isInClass:
                // RE2 would read names such as [:alpha:].
                output.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "["):
                let first = next == UInt8(ascii: "^") && index + 2 < source.count ? source[index + 2] : next
                guard first != UInt8(ascii: "]") else { throw PatternError(description: "a class is empty") }
                isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            case UInt8(ascii: "(") where !isInClass && next == UInt8(ascii: "?"):
                guard index + 2 < source.count, source[index + 2] == UInt8(ascii: ":") else {
                    throw PatternError(description: "a group that starts with (? is supported only as (?:…); look-around and named groups are not")
                }
            case UInt8(ascii: ".") where !isInClass:
                // RE2's . excludes \n only.
                output += Array("[^\\n\\r]".utf8)
                index += 1
                continue
            default: break
            }
            output.append(byte)
            index += 1
        }
        return output
    }

    private static func checkEscape(_ letter: UInt8, isInClass: Bool) throws(PatternError) {
        switch letter {
        case 0: throw PatternError(description: "a backslash ends the pattern")
        case UInt8(ascii: "1")...UInt8(ascii: "9"): throw PatternError(description: "back references are not supported")
        case UInt8(ascii: "b"), UInt8(ascii: "B"):
            if isInClass { throw PatternError(description: "\\b inside a class is not supported") }
        case UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "w"), UInt8(ascii: "W"), UInt8(ascii: "s"), UInt8(ascii: "S"),
            UInt8(ascii: "t"), UInt8(ascii: "n"), UInt8(ascii: "v"), UInt8(ascii: "f"), UInt8(ascii: "r"), UInt8(ascii: "x"), UInt8(ascii: "u"):
            break
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0"):
            throw PatternError(description: "the escape \\\(Character(Unicode.Scalar(letter))) is not known")
        default: break
        }
    }
}

/// The reason why a pattern was refused.
public struct PatternError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One clause, such as `missing ]: [a`.
    public var description: String
}
