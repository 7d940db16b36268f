import HearthBytes
import Tree

/// Builds the rule nodes of a document and compiles their expressions.
struct RuleTreeBuilder {
    private let source: SourceLines
    private let limits: RuleLimits
    private(set) var indexes: [IndexDeclaration] = []
    private(set) var program = ProgramBuilder()
    /// The node of `rules`.
    private(set) var root = RuleNode(RuleNode.Draft())
    /// The names on the path to the current node.
    private var pattern: [String] = []
    private var captures: [String: Int] = [:]

    init(_ document: DocumentValue, source: SourceLines, limits: RuleLimits) throws(RulesError) {
        self.source = source
        self.limits = limits
        guard case .object(let members) = document.content, members.count == 1, members[0].key.string == "rules" else {
            throw RulesError("Expected 'rules' property.", at: document.offset, in: source)
        }
        guard case .object(let top) = members[0].value.content else {
            throw RulesError("Expected '{'.", at: members[0].value.offset, in: source)
        }
        root = try node(top)
    }

    private func failure(_ text: String, at offset: Int) -> RulesError { RulesError(text, at: offset, in: source) }

    private mutating func node(_ members: [DocumentValue.Member]) throws(RulesError) -> RuleNode {
        var node = RuleNode.Draft()
        var seen: Set<[UInt8]> = []
        var wildcard: String?
        for member in members {
            let key = member.key.string
            guard seen.insert(member.key.bytes).inserted else { throw failure("Duplicate key '\(key)'.", at: member.key.start) }
            switch key {
            case ".read": node.read = try rule(.read, member.value)
            case ".write": node.write = try rule(.write, member.value)
            case ".validate": node.validate = try rule(.validate, member.value)
            case ".indexOn": node.indexes = try targets(member.value)
            default:
                guard case .object(let inner) = member.value.content else { throw failure("Expected '{'.", at: member.value.offset) }
                try check(member.key, key, wildcard: &wildcard)
                let child = try self.child(key, inner)
                if key.utf8.first == UInt8(ascii: "$") {
                    node.wildcard = child
                } else {
                    node.literals.append(key)
                    node.literalNodes.append(child)
                }
            }
        }
        return RuleNode(node)
    }

    private mutating func child(_ key: String, _ members: [DocumentValue.Member]) throws(RulesError) -> RuleNode {
        let isCapture = key.utf8.first == UInt8(ascii: "$")
        if isCapture { captures[key] = pattern.count }
        pattern.append(key)
        let child = try node(members)
        pattern.removeLast()
        if isCapture { captures[key] = nil }
        return child
    }

    private func check(_ text: RuleText, _ key: String, wildcard: inout String?) throws(RulesError) {
        let isCapture = text.bytes.first == UInt8(ascii: "$")
        let name = isCapture ? text.bytes.dropFirst() : text.bytes[...]
        guard !name.isEmpty, !name.contains(where: PathText.isForbidden) else {
            throw failure(##"String can't contain ".", "#", "$", "/", "[", or "]""##, at: text.start)
        }
        guard isCapture else { return }
        if let wildcard {
            throw failure("Cannot have multiple default rules ('\(wildcard)' and '\(key)').", at: text.start)
        }
        if captures[key] != nil { throw failure("'\(key)' is already the name of a wildcard above.", at: text.start) }
        wildcard = key
    }

    private mutating func rule(_ kind: RuleKind, _ value: DocumentValue) throws(RulesError) -> CompiledRule {
        let text: RuleText
        switch value.content {
        case .boolean(let isTrue): text = RuleText(bytes: Array((isTrue ? "true" : "false").utf8), start: value.offset - 1)
        case .string(let string): text = string
        default: throw failure("Invalid rule expression.  Expected 'true', 'false', or an expression string.", at: value.offset)
        }
        let scope = RuleScope(kind: kind, depth: pattern.count, captures: captures)
        do throws(ExpressionError) {
            let start = program.ops.count
            let root = try ExpressionCompiler.compile(text.bytes, scope: scope, limits: limits, into: &program)
            // The compiler has just appended the operators of this expression, and no others.
            let dependence = program.ops[start...].reduce(into: RuleDependence()) { dependence, op in
                if op.code == .place { dependence.insert(.data) } else if op.code == .now { dependence.insert(.time) }
            }
            return CompiledRule(kind: kind, root: root, pattern: pattern, text: text, dependence: dependence)
        } catch {
            throw failure(error.text, at: text.offset(of: error.index))
        }
    }

    private mutating func targets(_ value: DocumentValue) throws(RulesError) -> [IndexDeclaration.Target] {
        var elements = [value]
        if case .array(let list) = value.content { elements = list }
        var targets: [IndexDeclaration.Target] = []
        var seen: Set<IndexDeclaration.Target> = []
        for element in elements {
            guard case .string(let text) = element.content else {
                throw failure("Invalid indexOn expression. Must be either a string or an array of strings", at: element.offset)
            }
            let target: IndexDeclaration.Target
            if text.string == ".value" {
                target = .value
            } else if let path = try? Path(parsing: text.string), !path.isRoot {
                target = .child(path)
            } else {
                throw failure("Invalid indexOn expression. '\(text.string)' is neither a path nor '.value'", at: element.offset)
            }
            guard seen.insert(target).inserted else { continue }
            targets.append(target)
            indexes.append(IndexDeclaration(pattern: pattern, target: target))
        }
        return targets
    }
}
