/// Compiles the text of a pattern for `Pattern`: recursive descent into a tree, then instructions.
struct PatternCompiler {
    static let instructionsMax = 5_000
    static let repetitionsMax = 1_000
    static let depthMax = 50

    indirect enum Node {
        case leaf(PatternInstruction)
        case sequence([Node])
        case choice([Node])
        case repetition(Node, Int, Int?)
    }

    private var scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0
    private let ignoresCase: Bool
    private var program: [PatternInstruction] = []
    private var visits = 0

    static func compile(_ source: String, ignoringCase: Bool) throws(PatternError) -> [PatternInstruction] {
        var compiler = PatternCompiler(scalars: Array(source.unicodeScalars), ignoresCase: ignoringCase)
        let tree = try compiler.choice()
        guard compiler.index == compiler.scalars.count else { throw PatternError(description: "a closing parenthesis has no opening one") }
        try compiler.emit(tree)
        compiler.program.append(.match)
        return compiler.program
    }

    private init(scalars: [Unicode.Scalar], ignoresCase: Bool) {
        self.scalars = scalars
        self.ignoresCase = ignoresCase
    }

    // MARK: Parsing

    private mutating func choice() throws(PatternError) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else { throw PatternError(description: "groups are nested more than \(Self.depthMax) deep") }
        var branches = [try sequence()]
        while peek == "|" {
            index += 1
            branches.append(try sequence())
        }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternError) -> Node {
        var parts: [Node] = []
        while let scalar = peek, scalar != "|", scalar != ")" {
            let atom = try atom()
            parts.append(try repeated(atom))
        }
        return .sequence(parts)
    }

    private mutating func atom() throws(PatternError) -> Node {
        let scalar = scalars[index]
        index += 1
        switch scalar {
        case "(": return try group()
        case "[": return .leaf(.set(try set()))
        case ".": return .leaf(.any)
        case "^": return .leaf(.start)
        case "$": return .leaf(.end)
        case "\\": return try escape()
        case "*", "+", "?", "{": throw PatternError(description: "there is nothing before \(scalar) to repeat")
        default: return literal(scalar)
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> Node {
        .leaf(.scalar(ignoresCase ? scalar.lowercasedASCII : scalar))
    }

    private mutating func group() throws(PatternError) -> Node {
        if peek == "?" {
            index += 1
            guard peek == ":" else {
                throw PatternError(description: "a group that starts with (? is supported only as (?:…); look-around and named groups are not")
            }
            index += 1
        }
        let inner = try choice()
        guard peek == ")" else { throw PatternError(description: "a group has no closing parenthesis") }
        index += 1
        return inner
    }

    private mutating func escape() throws(PatternError) -> Node {
        guard let scalar = peek else { throw PatternError(description: "a backslash ends the pattern") }
        index += 1
        if let set = Self.shorthand(scalar) { return .leaf(.set(set)) }
        switch scalar {
        case "b": return .leaf(.wordBoundary(isNegated: false))
        case "B": return .leaf(.wordBoundary(isNegated: true))
        case "1"..."9": throw PatternError(description: "back references are not supported")
        default: return literal(try escaped(scalar))
        }
    }

    private func escaped(_ scalar: Unicode.Scalar) throws(PatternError) -> Unicode.Scalar {
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "f": return "\u{0C}"
        case "v": return "\u{0B}"
        case "a"..."z", "A"..."Z", "0": throw PatternError(description: "the escape \\\(scalar) is not known")
        default: return scalar
        }
    }

    private static func shorthand(_ scalar: Unicode.Scalar) -> PatternSet? {
        let digits: [ClosedRange<UInt32>] = [0x30...0x39]
        let words: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
        let blanks: [ClosedRange<UInt32>] = [0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x2028...0x2029, 0xFEFF...0xFEFF]
        switch scalar {
        case "d": return PatternSet(ranges: digits)
        case "D": return PatternSet(ranges: digits, isNegated: true)
        case "w": return PatternSet(ranges: words)
        case "W": return PatternSet(ranges: words, isNegated: true)
        case "s": return PatternSet(ranges: blanks)
        case "S": return PatternSet(ranges: blanks, isNegated: true)
        default: return nil
        }
    }

    private mutating func set() throws(PatternError) -> PatternSet {
        var set = PatternSet()
        if peek == "^" {
            set.isNegated = true
            index += 1
        }
        while peek != "]" {
            let low = try setElement(&set)
            guard let low else { continue }
            guard peek == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                add(low...low, to: &set)
                continue
            }
            index += 1
            guard let high = try setElement(&set) else { throw PatternError(description: "a range in a class ends in a shorthand") }
            guard low <= high else { throw PatternError(description: "the range \(low)-\(high) in a class runs backwards") }
            add(low...high, to: &set)
        }
        index += 1
        return set
    }

    /// One character of a class; nil after a shorthand such as `\d`, which is added at once.
    private mutating func setElement(_ set: inout PatternSet) throws(PatternError) -> Unicode.Scalar? {
        guard let scalar = peek else { throw PatternError(description: "a class has no closing bracket") }
        index += 1
        guard scalar == "\\" else { return scalar }
        guard let escape = peek else { throw PatternError(description: "a backslash ends the pattern") }
        index += 1
        guard let shorthand = Self.shorthand(escape) else { return escape == "b" ? "\u{08}" : try escaped(escape) }
        guard !shorthand.isNegated else { throw PatternError(description: "\\\(escape) inside a class is not supported") }
        set.ranges += shorthand.ranges
        return nil
    }

    private func add(_ range: ClosedRange<Unicode.Scalar>, to set: inout PatternSet) {
        let values = range.lowerBound.value...range.upperBound.value
        set.ranges.append(values)
        guard ignoresCase else { return }
        // The text is folded to lower case before the test, so the upper-case part is added in lower case.
        let upper = values.clamped(to: 0x41...0x5A)
        if values.overlaps(0x41...0x5A) { set.ranges.append(upper.lowerBound + 32...upper.upperBound + 32) }
    }

    private mutating func repeated(_ atom: Node) throws(PatternError) -> Node {
        let bounds: (Int, Int?)
        switch peek {
        case "*": bounds = (0, nil)
        case "+": bounds = (1, nil)
        case "?": bounds = (0, 1)
        case "{": bounds = try counted()
        default: return atom
        }
        index += 1
        // Greediness does not change whether there is a match.
        if peek == "?" { index += 1 }
        if let scalar = peek, scalar == "*" || scalar == "+" || scalar == "{" {
            throw PatternError(description: "there is nothing before \(scalar) to repeat")
        }
        return .repetition(atom, bounds.0, bounds.1)
    }

    /// Parses `{2}`, `{2,}` or `{2,5}`; leaves the index at the closing brace.
    private mutating func counted() throws(PatternError) -> (Int, Int?) {
        guard let close = scalars[index...].firstIndex(of: "}") else { throw PatternError(description: "a repetition has no closing brace") }
        let text = String(String.UnicodeScalarView(scalars[(index + 1)..<close]))
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        index = close
        guard let low = Int(parts[0]), low >= 0, low <= Self.repetitionsMax else {
            throw PatternError(description: "expected a repetition such as {1,5}, at most \(Self.repetitionsMax), found {\(text)}")
        }
        if parts.count == 1 { return (low, low) }
        if parts[1].isEmpty { return (low, nil) }
        guard let high = Int(parts[1]), high >= low, high <= Self.repetitionsMax else {
            throw PatternError(description: "expected a repetition such as {1,5}, at most \(Self.repetitionsMax), found {\(text)}")
        }
        return (low, high)
    }

    private var peek: Unicode.Scalar? {
        index < scalars.count ? scalars[index] : nil
    }

    // MARK: Code generation

    private mutating func emit(_ node: Node) throws(PatternError) {
        // Counts visits, since an empty group repeated many times adds nothing to the program.
        visits += 1
        guard visits < Self.instructionsMax else { throw PatternError(description: "the pattern is too large") }
        switch node {
        case .leaf(let instruction): program.append(instruction)
        case .sequence(let parts): for part in parts { try emit(part) }
        case .choice(let branches): try emitChoice(branches)
        case .repetition(let inner, let low, let high):
            for _ in 0..<low { try emit(inner) }
            if let high { try emitOptional(inner, times: high - low) } else { try emitLoop(inner) }
        }
    }

    private mutating func emitChoice(_ branches: [Node]) throws(PatternError) {
        var jumps: [Int] = []
        for (number, branch) in branches.enumerated() {
            guard number < branches.count - 1 else {
                try emit(branch)
                break
            }
            let split = program.count
            program.append(.match)
            try emit(branch)
            jumps.append(program.count)
            program.append(.match)
            program[split] = .split(split + 1, program.count)
        }
        for jump in jumps { program[jump] = .jump(program.count) }
    }

    private mutating func emitLoop(_ inner: Node) throws(PatternError) {
        let split = program.count
        program.append(.match)
        try emit(inner)
        program.append(.jump(split))
        program[split] = .split(split + 1, program.count)
    }

    private mutating func emitOptional(_ inner: Node, times: Int) throws(PatternError) {
        var splits: [Int] = []
        for _ in 0..<times {
            splits.append(program.count)
            program.append(.match)
            try emit(inner)
        }
        for split in splits { program[split] = .split(split + 1, program.count) }
    }
}
