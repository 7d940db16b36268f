import RegularExpressions

/// All expressions of a rules document, compiled.
// Unchecked: the operators are written before the program is shared, and freed with its last reference.
final class Program: @unchecked Sendable {
    /// Read at every step of every rule: a raw pointer avoids reference counting.
    let ops: UnsafePointer<Op>
    /// The range of each operator in its rule's text.
    let ranges: [Range<Int32>]
    /// Operands of operators with variable arity.
    let operands: [Int32]
    let numbers: [Double]
    let strings: [String]
    let names: [[String]]
    let paths: [ConstantPath]
    let patterns: [RegularExpression]

    init(_ builder: ProgramBuilder) {
        let ops = UnsafeMutablePointer<Op>.allocate(capacity: max(1, builder.ops.count))
        ops.initialize(from: builder.ops, count: builder.ops.count)
        self.ops = UnsafePointer(ops)
        ranges = builder.ranges
        operands = builder.operands
        numbers = builder.numbers
        strings = builder.strings
        names = builder.names
        paths = builder.paths
        patterns = builder.patterns
    }

    deinit { ops.deallocate() }
}

/// Collects the operators and tables of a program.
struct ProgramBuilder {
    fileprivate(set) var ops: [Op] = []
    fileprivate(set) var ranges: [Range<Int32>] = []
    fileprivate(set) var operands: [Int32] = []
    fileprivate(set) var numbers: [Double] = []
    fileprivate(set) var strings: [String] = []
    fileprivate(set) var names: [[String]] = []
    fileprivate(set) var paths: [ConstantPath] = []
    fileprivate(set) var patterns: [RegularExpression] = []
    private var patternIndices: [PatternKey: Int32] = [:]
    private var patternSize = 0

    private struct PatternKey: Hashable {
        var source: [UInt8]
        var ignoresCase: Bool
    }

    mutating func add(_ op: Op, _ range: Range<Int>) -> Int32 {
        ops.append(op)
        ranges.append(Int32(range.lowerBound)..<Int32(range.upperBound))
        return Int32(ops.count - 1)
    }

    mutating func add(operands list: [Int32]) -> Int32 {
        operands.append(contentsOf: list)
        return Int32(operands.count - list.count)
    }

    mutating func add(number: Double) -> Int32 {
        numbers.append(number)
        return Int32(numbers.count - 1)
    }

    mutating func add(string: String) -> Int32 {
        strings.append(string)
        return Int32(strings.count - 1)
    }

    mutating func add(names list: [String]) -> Int32 {
        names.append(list)
        return Int32(names.count - 1)
    }

    mutating func add(path: ConstantPath) -> Int32 {
        paths.append(path)
        return Int32(paths.count - 1)
    }

    /// Compiles a pattern in RE2 syntax, each distinct one once. Throws RE2's reason if it refuses the pattern.
    mutating func add(pattern source: [UInt8], ignoresCase: Bool, sizeMax: Int) throws(RegularExpression.Refusal) -> Int32 {
        let key = PatternKey(source: source, ignoresCase: ignoresCase)
        if let index = patternIndices[key] { return index }
        let pattern = try RegularExpression(source, ignoresCase: ignoresCase)
        patternSize += pattern.size
        guard patternSize <= sizeMax else { throw RegularExpression.Refusal(reason: "the regular expressions are too large together") }
        patterns.append(pattern)
        patternIndices[key] = Int32(patterns.count - 1)
        return Int32(patterns.count - 1)
    }
}
