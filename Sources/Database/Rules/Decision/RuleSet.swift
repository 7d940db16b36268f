import HearthBytes
public import Tree

/// The security rules of a database, compiled once and shared by all threads.
///
/// ```swift
/// let rules = try RuleSet(parsing: Array(#"{"rules": {"users": {"$uid": {".read": "auth.uid === $uid"}}}}"#.utf8))
/// let verdict = rules.read(path, query: nil, context: RuleContext(auth: auth, now: now), data: tree)
/// ```
public final class RuleSet: Sendable {
    /// The document, as uploaded.
    public let source: [UInt8]
    /// The limits for compilation and evaluation.
    public let limits: RuleLimits
    /// All `.indexOn` declarations of the document.
    public let indexDefinitions: [IndexDeclaration]
    let root: RuleNode
    let program: Program
    let text: SourceLines
    private let document: DocumentValue

    /// Parses and compiles a rules document. Throws the first error.
    public init(parsing source: [UInt8], limits: RuleLimits = RuleLimits()) throws(RulesError) {
        guard source.count <= limits.documentBytesMax else {
            throw RulesError(line: 1, column: 1, text: "Rules are larger than \(limits.documentBytesMax) bytes.")
        }
        let text = SourceLines(source)
        let document = try DocumentParser.parse(text, depthMax: limits.nodeDepthMax)
        let builder = try RuleTreeBuilder(document, source: text, limits: limits)
        self.source = source
        self.limits = limits
        self.text = text
        self.document = document
        indexDefinitions = builder.indexes
        root = builder.root
        program = Program(builder.program)
    }

    /// Rules that allow or deny everything.
    private init(allows: Bool) {
        let value = Array((allows ? "true" : "false").utf8)
        let prefix = Array(#"{"rules":{".read":"#.utf8)
        let middle = Array(#",".write":"#.utf8)
        source = prefix + value + middle + value + Array("}}".utf8)
        limits = RuleLimits()
        text = SourceLines(source)
        indexDefinitions = []
        var builder = ProgramBuilder()
        let op = builder.add(Op(code: .boolean, a: allows ? 1 : 0), 0..<value.count)
        let starts = [prefix.count - 1, prefix.count + value.count + middle.count - 1]
        let texts = starts.map { RuleText(bytes: value, start: $0) }
        root = RuleNode(RuleNode.Draft(
            read: CompiledRule(kind: .read, root: op, pattern: [], text: texts[0]),
            write: CompiledRule(kind: .write, root: op, pattern: [], text: texts[1])))
        program = Program(builder)
        let members = zip([".read", ".write"], starts).map { name, start in
            DocumentValue.Member(
                key: RuleText(bytes: Array(name.utf8), start: start),
                value: DocumentValue(content: .boolean(allows), offset: start + 1))
        }
        let top = DocumentValue(content: .object(members), offset: 9)
        let key = RuleText(bytes: Array("rules".utf8), start: 1)
        document = DocumentValue(content: .object([DocumentValue.Member(key: key, value: top)]), offset: 0)
    }

    /// Rules that deny everything.
    public static let closed = RuleSet(allows: false)
    /// Rules that allow everything.
    public static let open = RuleSet(allows: true)

    /// The document as JSON without comments and raw newlines.
    public func strictJSON() -> [UInt8] {
        var buffer = ByteBuffer(capacity: source.count)
        document.write(to: &buffer)
        return buffer.array()
    }

    /// Whether children of `path` may be queried in this order: always by key and by priority, otherwise if an `.indexOn` declares it.
    public func hasIndex(at path: Path, order: Query.Order) -> Bool {
        let target: IndexDeclaration.Target
        switch order {
        case .key, .priority: return true
        case .value: target = .value
        case .child(let path): target = .child(path)
        }
        var node = root
        for segment in path.segments {
            guard let child = node.child(segment) else { return false }
            node = child
        }
        return node.indexes.contains(target)
    }
}
