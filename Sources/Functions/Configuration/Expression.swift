/// A parameter expression of a manifest, such as `{{ params.NAME }}` or `{{ params.SIZE == "large" ? 4 : 1 }}`.
///
/// The grammar covers the output of the SDKs: a parameter or literal, one comparison, one conditional.
struct Expression {
    enum Value: Equatable {
        case text(String)
        case number(Double)
        case bool(Bool)
    }

    struct Failure: Error {
        var message: String
    }

    private var rest: Substring
    private let parameters: ParameterValues

    static func isOne(_ text: String) -> Bool {
        text.hasPrefix("{{") && text.hasSuffix("}}")
    }

    static func evaluate(_ source: String, with parameters: ParameterValues) throws(Failure) -> Value {
        guard isOne(source), source.count >= 4 else { throw Failure(message: "expected an expression in {{ and }}, found \(source.quoted)") }
        var expression = Expression(rest: source.dropFirst(2).dropLast(2), parameters: parameters)
        let value = try expression.choice()
        expression.skipBlanks()
        guard expression.rest.isEmpty else {
            throw Failure(message: "expected the end of the expression, found \(String(expression.rest).quoted)")
        }
        return value
    }

    private mutating func choice() throws(Failure) -> Value {
        let condition = try comparison()
        guard take("?") else { return condition }
        guard case .bool(let isTrue) = condition else { throw Failure(message: "the condition before ? is not true or false") }
        let first = try operand()
        guard take(":") else { throw Failure(message: "expected : and the other value after ?") }
        let second = try operand()
        return isTrue ? first : second
    }

    private mutating func comparison() throws(Failure) -> Value {
        let left = try operand()
        for sign in ["==", "!=", "<=", ">=", "<", ">"] where take(sign) {
            return .bool(try Self.compare(left, sign, try operand()))
        }
        return left
    }

    private static func compare(_ left: Value, _ sign: String, _ right: Value) throws(Failure) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): return holds(left, sign, right)
        case (.text(let left), .text(let right)): return holds(left, sign, right)
        case (.bool, .bool) where sign == "==" || sign == "!=": return (left == right) == (sign == "==")
        default: throw Failure(message: "the two sides of \(sign) cannot be compared")
        }
    }

    private static func holds<Side: Comparable>(_ left: Side, _ sign: String, _ right: Side) -> Bool {
        switch sign {
        case "==": left == right
        case "!=": left != right
        case "<=": left <= right
        case ">=": left >= right
        case "<": left < right
        default: left > right
        }
    }

    private mutating func operand() throws(Failure) -> Value {
        skipBlanks()
        if let quote = rest.first, quote == "\"" || quote == "'" { return .text(try literal(quote)) }
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "-" }
        rest = rest.dropFirst(word.count)
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case _ where word.hasPrefix("params."): return try parameters.value(String(word.dropFirst(7)))
        default:
            guard let number = Double(word) else {
                let found = word.isEmpty ? String(rest) : String(word)
                throw Failure(message: "expected params.NAME, a number, text, true or false, found \(found.quoted)")
            }
            return .number(number)
        }
    }

    private mutating func literal(_ quote: Character) throws(Failure) -> String {
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: quote) else { throw Failure(message: "a text has no closing quote") }
        defer { rest = rest[end...].dropFirst() }
        return String(rest[..<end])
    }

    private mutating func take(_ sign: String) -> Bool {
        skipBlanks()
        guard rest.hasPrefix(sign) else { return false }
        rest = rest.dropFirst(sign.count)
        return true
    }

    private mutating func skipBlanks() {
        rest = rest.drop { $0 == " " }
    }
}

/// The values of a plugin's parameters, without secrets, known before its functions run.
public struct ParameterValues: Sendable {
    private var texts: [String: String] = [:]
    private var kinds: [String: Parameter.Kind] = [:]

    /// No values: expressions with parameters cannot be evaluated.
    public init() {}

    mutating func set(_ name: String, _ kind: Parameter.Kind, _ text: String) {
        texts[name] = text
        kinds[name] = kind
    }

    /// The value as text of an environment variable.
    public func text(_ name: String) -> String? {
        texts[name]
    }

    func value(_ name: String) throws(Expression.Failure) -> Expression.Value {
        guard let text = texts[name], let kind = kinds[name] else {
            throw Expression.Failure(message: "there is no parameter \(name)")
        }
        switch kind {
        case .int, .float: return Double(text).map(Expression.Value.number) ?? .number(0)
        case .boolean: return .bool(text == "true")
        case .string, .list, .secret: return .text(text)
        }
    }
}
