import HearthBytes
import Store
import Tree

/// Writes a node as JSON from its rows, in the same form as `Node.write(to:form:isPretty:)`.
struct JSONBuilder: RowVisitor, ~Copyable {
    private enum Shape {
        case object
        /// The index of the next element.
        case array(next: Int)
    }

    private struct Level {
        var shape: Shape
        var isEmpty = true
        /// The JSON of its priority.
        var priority: [UInt8]
    }

    private let reader: TreeReader
    private let form: JSONForm
    private let isPretty: Bool
    private var levels: [Level] = []
    /// The number of open objects, which determines the indentation.
    private var depth = 0

    /// The output. Set only while it is used: callers swap a buffer in and out.
    var buffer = ByteBuffer()
    /// The size of the buffer at which the builder pauses.
    var pause = Int.max
    /// Whether the top node is an array, if this is not to be determined from its rows.
    var topIsArray: Bool?
    private(set) var failure: StoreError?
    private(set) var isEmpty = true
    /// Whether the node is completely written because it is a leaf without a priority, so that no row can follow.
    private(set) var isComplete = false

    init(_ reader: TreeReader, form: JSONForm, isPretty: Bool) {
        self.reader = reader
        self.form = form
        self.isPretty = isPretty
    }

    var isSatisfied: Bool { buffer.count >= pause || isComplete || failure != nil }

    mutating func open(_ row: Span<UInt8>, _ segment: Range<Int>, priority: Span<UInt8>) {
        member(row, segment)
        var level = Level(shape: .object, priority: priority.array())
        if isArray(row, end: segment.upperBound) {
            level.shape = .array(next: 0)
            buffer.append(UInt8(ascii: "["))
        } else {
            buffer.append(UInt8(ascii: "{"))
            depth += 1
        }
        levels.append(level)
    }

    @inline(__always)
    mutating func leaf(_ row: Span<UInt8>, _ segment: Range<Int>, _ value: Span<UInt8>, priority: Span<UInt8>) {
        member(row, segment)
        if form == .export, !priority.isEmpty { return export(value, priority) }
        buffer.append(value)
        isComplete = levels.isEmpty
    }

    mutating func close() {
        guard let level = levels.last else { return }
        switch level.shape {
        case .array:
            if isPretty { buffer.append(UInt8(ascii: " ")) }
            buffer.append(UInt8(ascii: "]"))
        case .object:
            if form == .export, !level.priority.isEmpty { append(name: ".priority", level.priority.span) }
            depth -= 1
            if isPretty, !level.isEmpty { newLine() }
            buffer.append(UInt8(ascii: "}"))
        }
        levels.removeLast()
    }

    // MARK: Members

    /// Writes the part before a value: comma, line break, name.
    @inline(__always)
    private mutating func member(_ row: Span<UInt8>, _ segment: Range<Int>) {
        isEmpty = false
        let last = levels.count - 1
        guard last >= 0 else { return }
        if case .array(let next) = levels[last].shape {
            return element(PathKey.arrayIndex(row, segment) ?? next, next: next)
        }
        comma(last)
        if isPretty { newLine() }
        PathKey.appendSegmentJSON(row, segment, into: &buffer)
        colon()
    }

    @inline(__always)
    private mutating func comma(_ last: Int) {
        if levels[last].isEmpty {
            levels[last].isEmpty = false
        } else {
            buffer.append(UInt8(ascii: ","))
        }
    }

    private mutating func element(_ index: Int, next: Int) {
        let last = levels.count - 1
        for _ in next..<max(index, next) {
            comma(last)
            if isPretty { buffer.append(UInt8(ascii: " ")) }
            buffer.append("null")
        }
        comma(last)
        if isPretty { buffer.append(UInt8(ascii: " ")) }
        levels[last].shape = .array(next: index + 1)
    }

    private mutating func colon() {
        if isPretty { buffer.append(" : ") } else { buffer.append(UInt8(ascii: ":")) }
    }

    private mutating func newLine() {
        buffer.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { buffer.append("  ") }
    }

    private mutating func append(name: StaticString, _ value: Span<UInt8>) {
        comma(levels.count - 1)
        if isPretty { newLine() }
        buffer.append(UInt8(ascii: "\""))
        buffer.append(name)
        buffer.append(UInt8(ascii: "\""))
        colon()
        buffer.append(value)
    }

    /// Writes a leaf with a priority.
    private mutating func export(_ value: Span<UInt8>, _ priority: Span<UInt8>) {
        buffer.append(UInt8(ascii: "{"))
        depth += 1
        levels.append(Level(shape: .object, priority: priority.array()))
        append(name: ".value", value)
        close()
    }

    // MARK: Arrays

    /// Whether the node whose key ends at `end` of `row`, the row of its first child, is an array in JSON.
    private mutating func isArray(_ row: Span<UInt8>, end: Int) -> Bool {
        guard form == .value else { return false }
        if levels.isEmpty, let topIsArray { return topIsArray }
        guard let next = PathKey.segmentEnd(row, from: end), let first = PathKey.arrayIndex(row, end..<next) else { return false }
        do throws(StoreError) {
            let parent = row.extracting(first: end).array()
            let range = KeyRange(lower: row.extracting(first: next).array(), upper: parent + [0xFF])
            return try reader.isArray(parent: parent, children: range, first: first)
        } catch {
            failure = error
            return false
        }
    }
}

extension TreeReader {
    /// Whether the children in a range of rows form an array (spec database 1.2): all keys are indexes, and the greatest one is less than twice
    /// their number. The last child is checked first. Then the children are counted until the result is certain.
    ///
    /// - Parameter first: the index of the first child.
    func isArray(parent: [UInt8], children range: KeyRange, first: Int) throws(StoreError) -> Bool {
        var greatest: Int?
        try scan(.tree, from: range.lower, to: range.upper, reversed: true) { row, _ in
            guard let end = PathKey.segmentEnd(row, from: parent.count) else { return .next }
            greatest = PathKey.arrayIndex(row, parent.count..<end)
            return .stop
        }
        // The greatest possible count. It is reduced by each gap.
        guard let greatest, ArrayShape.isDense(greatest: greatest, count: greatest - first + 1) else { return false }
        var count = 0
        var isArray = true
        try children(of: parent, from: range.lower, to: range.upper) { row, segment in
            guard let index = PathKey.arrayIndex(row, segment) else {
                isArray = false
                return false
            }
            count += 1
            isArray = ArrayShape.isDense(greatest: greatest, count: count + greatest - index)
            return isArray
        }
        return isArray
    }
}
