import HearthJSON
import Tree

/// Evaluates the rules of one request, one after the other.
///
/// An expression is evaluated recursively from its root. Steps are counted, and compilation has bounded the nesting, so evaluation ends
/// soon for all rules and data.
struct Evaluator: ~Copyable {
    let program: Program
    private let ops: UnsafePointer<Op>
    let context: RuleContext
    let query: Query?
    let old: any RuleData
    let new: any RuleData
    let stringBytesMax: Int
    var stepsLeft: Int
    /// A stack of the keys of places under evaluation.
    var places = PathKey.root
    /// The keys on the path to the current node.
    var names: [String]
    /// The path key of the current node and the end of each of its levels; built on first use.
    private(set) var base = PathKey.root
    private(set) var levelEnds: [Int] = []
    /// The depth of the node that holds the rule.
    var depth = 0
    /// The new value at the rule's node, if it is known.
    var written: Node?
    /// The error of the last failed rule.
    private(set) var fault: Fault?
    /// The first failure to read data: no result counts any more.
    private var unreadable: UnreadableData?

    init(
        _ program: Program, path: Path, context: RuleContext, query: Query?, old: any RuleData, new: any RuleData, limits: RuleLimits, steps: Int
    ) {
        self.program = program
        ops = program.ops
        self.context = context
        self.query = query
        self.old = old
        self.new = new
        stringBytesMax = limits.stringBytesMax
        stepsLeft = steps
        names = path.segments
    }

    /// Builds the path key of the current node.
    @inline(__always)
    mutating func locate() {
        if levelEnds.isEmpty { makeBase() }
    }

    @inline(never)
    private mutating func makeBase() {
        base.bytes.reserveCapacity(128)
        levelEnds.reserveCapacity(names.count + 4)
        levelEnds.append(0)
        for name in names {
            base.append(name)
            levelEnds.append(base.bytes.count)
        }
    }

    /// Descends to a child.
    mutating func enter(_ key: String) {
        locate()
        names.append(key)
        base.append(key)
        levelEnds.append(base.bytes.count)
    }

    /// Returns to the parent.
    mutating func leave() {
        names.removeLast()
        levelEnds.removeLast()
        base.bytes.removeLast(base.bytes.count - levelEnds[levelEnds.count - 1])
    }

    /// Whether the expression at `root` is true for the node `depth` levels down. An error of the expression counts as false.
    mutating func holds(_ root: Int32, depth: Int, written: Node? = nil) throws(UnreadableData) -> Bool {
        self.depth = depth
        self.written = written
        fault = nil
        do throws(Fault) {
            return try condition(root)
        } catch {
            try checkData()
            fault = error
            places.bytes.removeAll(keepingCapacity: true)
            return false
        }
    }

    /// Throws if data could not be read.
    func checkData() throws(UnreadableData) {
        if let unreadable { throw unreadable }
    }

    /// Notes that data could not be read.
    @inline(never)
    mutating func cannotRead(_ error: any Error, at op: Int32) -> Fault {
        if unreadable == nil { unreadable = UnreadableData(cause: error) }
        return Fault(reason: .unreadable, op: op)
    }

    var isOverBudget: Bool { stepsLeft < 0 }

    @inline(__always)
    func op(_ index: Int32) -> Op { ops[Int(index)] }

    /// Counts steps before they are taken.
    @inline(__always)
    mutating func take(_ steps: Int, at op: Int32) throws(Fault) {
        stepsLeft &-= steps
        if stepsLeft < 0 { throw Fault(reason: .overBudget, op: op) }
    }

    // MARK: Conditions

    mutating func condition(_ index: Int32) throws(Fault) -> Bool {
        try take(1, at: index)
        let op = op(index)
        switch op.code {
        case .boolean: return op.a == 1
        case .and:
            for position in op.a..<op.a + op.b where try !condition(program.operands[Int(position)]) { return false }
            return true
        case .or:
            for position in op.a..<op.a + op.b where try condition(program.operands[Int(position)]) { return true }
            return false
        case .not: return try !condition(op.a)
        case .conditional: return try condition(op.a) ? condition(op.b) : condition(op.c)
        case .equal: return RuleValue.areEqual(try value(op.a), try value(op.b))
        case .notEqual: return !RuleValue.areEqual(try value(op.a), try value(op.b))
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return try ordered(op, index)
        case .exists: return try exists(op.a)
        case .isAbsent: return try !exists(op.a)
        case .hasChildren: return try hasChildren(op.a)
        case .hasChildrenNamed: return try hasChildren(op.a, named: op.b..<op.b + op.c)
        case .isNumber:
            switch try leaf(op.a) {
            case .integer, .double: return true
            default: return false
            }
        case .isString:
            if case .string = try leaf(op.a) { return true }
            return false
        case .isBoolean:
            if case .boolean = try leaf(op.a) { return true }
            return false
        case .contains, .beginsWith, .endsWith: return try compared(op)
        case .matches: return try matches(op)
        default:
            let found = try value(index)
            guard case .boolean(let isTrue) = found else { throw Fault(reason: .needsBoolean, op: index, found: found.kind) }
            return isTrue
        }
    }

    private mutating func ordered(_ op: Op, _ index: Int32) throws(Fault) -> Bool {
        let left = try value(op.a)
        let right = try value(op.b)
        switch (left, right) {
        case (.string(let left), .string(let right)):
            try take(min(left.utf8.count, right.utf8.count) / RuleBudget.textBytesPerStep, at: index)
            switch op.code {
            case .less: return TextOrder.precedes(left, right)
            case .lessOrEqual: return !TextOrder.precedes(right, left)
            case .greater: return TextOrder.precedes(right, left)
            default: return !TextOrder.precedes(left, right)
            }
        case (.integer(let left), .integer(let right)): return Self.compare(op.code, left, right)
        default:
            guard left.kind == .number || left.kind == .string else {
                throw Fault(reason: .needsNumberOrString, op: op.a, found: left.kind)
            }
            guard right.kind == .number || right.kind == .string else {
                throw Fault(reason: .needsNumberOrString, op: op.b, found: right.kind)
            }
            guard let left = left.number, let right = right.number else {
                throw Fault(reason: .needsSameType, op: index, found: left.kind)
            }
            return Self.compare(op.code, left, right)
        }
    }

    @inline(__always)
    private static func compare<T: Comparable>(_ code: Op.Code, _ left: T, _ right: T) -> Bool {
        switch code {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        default: left >= right
        }
    }

    // MARK: Values

    mutating func value(_ index: Int32) throws(Fault) -> RuleValue {
        let op = op(index)
        switch op.code {
        case .null: return .null
        case .number: return .number(program.numbers[Int(op.a)])
        case .string: return .string(program.strings[Int(op.a)])
        case .authUID: return context.uid
        case .capture: return .string(names[Int(op.a)])
        case .now: return RuleValue(context.now)
        case .val: return try storedValue(op.a)
        default: return try rareValue(op, index)
        }
    }

    private mutating func rareValue(_ op: Op, _ index: Int32) throws(Fault) -> RuleValue {
        switch op.code {
        case .auth: return RuleValue(context.auth)
        case .authPath: return authValue(program.names[Int(op.a)])
        case .member: return Self.member(program.strings[Int(op.b)], of: try value(op.a))
        case .subscripted: return try subscripted(op)
        case .queryField:
            guard let field = Op.QueryField(rawValue: op.a) else { return .null }
            return queried(field)
        case .priority: return RuleValue(try priority(op.a))
        case .conditional: return try condition(op.a) ? value(op.b) : value(op.c)
        case .add: return try sum(op, index)
        case .subtract, .multiply, .divide, .remainder: return try arithmetic(op, index)
        case .negate: return .number(-(try number(op.a)))
        case .length: return try length(op.a)
        case .lowercased, .uppercased, .replace: return try changed(op, index)
        default: return .boolean(try condition(index))
        }
    }

    /// The string value of an operand.
    mutating func string(_ index: Int32) throws(Fault) -> String {
        let found = try value(index)
        guard case .string(let text) = found else { throw Fault(reason: .needsString, op: index, found: found.kind) }
        return text
    }

    private mutating func number(_ index: Int32) throws(Fault) -> Double {
        let found = try value(index)
        guard let number = found.number else { throw Fault(reason: .needsNumber, op: index, found: found.kind) }
        return number
    }

    private mutating func arithmetic(_ op: Op, _ index: Int32) throws(Fault) -> RuleValue {
        try take(1, at: index)
        let left = try number(op.a)
        let right = try number(op.b)
        switch op.code {
        case .subtract: return .number(left - right)
        case .multiply: return .number(left * right)
        case .divide: return .number(right == 0 ? .nan : left / right)
        default: return .number(right == 0 ? .nan : left.truncatingRemainder(dividingBy: right))
        }
    }

    private mutating func sum(_ op: Op, _ index: Int32) throws(Fault) -> RuleValue {
        try take(1, at: index)
        let left = try value(op.a)
        let right = try value(op.b)
        if let left = left.number, let right = right.number { return .number(left + right) }
        guard let first = left.joined else { throw Fault(reason: .needsNumberOrString, op: op.a, found: left.kind) }
        guard let second = right.joined else { throw Fault(reason: .needsNumberOrString, op: op.b, found: right.kind) }
        let size = first.utf8.count + second.utf8.count
        guard size <= stringBytesMax else { throw Fault(reason: .tooLong, op: index) }
        try take(size / RuleBudget.textBytesPerStep, at: index)
        return .string(first + second)
    }
}

extension Evaluator {
    /// Evaluates a part of the last rule again, for an explanation; nil if it fails.
    mutating func evaluateAgain(_ index: Int32) -> Bool? {
        do throws(Fault) { return try condition(index) } catch {
            places.bytes.removeAll(keepingCapacity: true)
            return nil
        }
    }

    mutating func valueAgain(_ index: Int32) -> RuleValue? {
        do throws(Fault) { return try value(index) } catch {
            places.bytes.removeAll(keepingCapacity: true)
            return nil
        }
    }
}
