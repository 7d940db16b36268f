import HearthBytes
import HearthJSON

/// Splits a JSON text of any size into values that are small enough to be sent one by one.
///
/// Text goes in through ``append(_:)``, values come out of ``next()``. Together the values are the text: each leaf is in exactly one value,
/// and no value contains another. Objects and arrays stay whole up to ``JSONSplitLimits/valueBytesMax``; the root is always split, unless
/// it is a leaf. Memory holds one value and the last appended text.
///
/// Priorities of split objects cannot be set before their children exist: they are collected in ``priorities``.
///
/// An object that turns out to be too long is read again from its beginning and split. So every byte is read at most twice per level of
/// such objects; text of finished values is not needed again.
public struct JSONSplitter: ~Copyable {
    let limits: JSONSplitLimits
    /// Whether to output values, and not only check the text.
    let collects: Bool
    /// The priorities of split objects, each with the path of its object, to be set at the end.
    public internal(set) var priorities: [JSONPiece] = []

    var window = ByteBuffer()
    /// The offset of the window in the text.
    var windowStart = 0
    /// The current offset in the text.
    var position = 0
    var stack: [Frame] = []
    /// The path of the current member of the innermost split frame.
    var path: [UInt8] = []
    var expectation = Expectation.value
    /// The start of the value to output as a whole; the frames from `anchorDepth` on are inside it.
    var anchor: Int?
    var anchorDepth = 0
    var line = 1
    /// The offset of the current line.
    var lineStart = 0
    var unfinishedString: UnfinishedString?
    var isFinished = false

    /// The token that may follow.
    enum Expectation {
        case value, elementOrEnd, keyOrEnd, key, colon, commaOrEnd, nothing
    }

    /// An open array or object.
    struct Frame {
        let isObject: Bool
        var isSplit: Bool
        let start: Int
        let line: Int
        let lineStart: Int
        /// The length of `path` without the member.
        let pathCount: Int
        var member = Member.ordinary
        /// The number of elements begun so far.
        var elementCount = 0
        var hasValue = false
        var hasOthers = false
    }

    /// The meaning of a key (spec database 1.3).
    enum Member {
        case ordinary, value, priority, serverValue
    }

    /// A string whose end has not arrived.
    struct UnfinishedString {
        let start: Int
        /// The offset up to which it was scanned.
        var position: Int
        /// Whether the scanned part is ASCII without escapes.
        var isPlain: Bool
    }

    /// A splitter at the start of a text.
    ///
    /// - Parameter collects: false to check the text only: ``next()`` then returns nothing, or throws.
    public init(limits: JSONSplitLimits = JSONSplitLimits(), collects: Bool = true) {
        self.limits = limits
        self.collects = collects
    }

    /// Bytes of the text in memory.
    public var heldBytes: Int { window.count }

    /// Bytes of the text read so far.
    public var bytesRead: Int { position }

    /// Appends the next part of the text.
    public mutating func append(_ bytes: Span<UInt8>) {
        release()
        window.append(bytes)
    }

    /// Marks the end of the text.
    public mutating func finish() { isFinished = true }

    /// The next value.
    ///
    /// - Returns: nil when more text is needed, or at the end after ``finish()``.
    /// - Throws: `JSONSplitError` if the text is not JSON or not valid for a database.
    public mutating func next() throws(JSONSplitError) -> JSONPiece? {
        while true {
            switch try step() {
            case .again: continue
            case .piece(let piece): return piece
            case .starved:
                if isFinished {
                    guard case .nothing = expectation else { throw error("the text ends before the value is complete") }
                    return nil
                }
                guard let anchor, stack.count > anchorDepth, windowEnd - anchor > limits.valueBytesMax else { return nil }
                splitAnchor()
            }
        }
    }

    enum Step {
        case again, starved
        case piece(JSONPiece)
    }

    private mutating func step() throws(JSONSplitError) -> Step {
        skipSpace()
        guard position < windowEnd else { return .starved }
        let byte = byte(at: position)
        switch expectation {
        case .value: return try value(byte)
        case .elementOrEnd: return try byte == UInt8(ascii: "]") ? close() : value(byte)
        case .keyOrEnd:
            guard byte == UInt8(ascii: "}") else { return try key(byte) }
            // An object that is a priority is a server value.
            if stack.count > 1, stack[stack.count - 2].member == .priority { throw error(Self.priorityRule) }
            return try close()
        case .key: return try key(byte)
        case .colon:
            guard byte == UInt8(ascii: ":") else { throw error("a colon is missing here") }
            position += 1
            expectation = .value
            return .again
        case .commaOrEnd:
            guard let frame = stack.last else { throw error("there is more text after the value") }
            if byte == (frame.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return try close() }
            guard byte == UInt8(ascii: ",") else { throw error("a comma or the end of the \(frame.isObject ? "object" : "array") is missing here") }
            position += 1
            expectation = frame.isObject ? .key : .value
            return .again
        case .nothing: throw error("there is more text after the value")
        }
    }

    // MARK: The window

    var windowEnd: Int { windowStart + window.count }

    func byte(at position: Int) -> UInt8 { window.bytes[position - windowStart] }

    func text(_ range: Range<Int>) -> [UInt8] { window.bytes.extracting((range.lowerBound - windowStart)..<(range.upperBound - windowStart)).array() }

    /// Drops text that is not needed again.
    private mutating func release() {
        let keepFrom = min(anchor ?? position, unfinishedString?.start ?? position, position)
        window.consume(keepFrom - windowStart)
        windowStart = keepFrom
    }

    func error(_ message: String, at place: Int? = nil) -> JSONSplitError {
        JSONSplitError(line: line, column: (place ?? position) - lineStart + 1, message: message)
    }

    private mutating func skipSpace() {
        while position < windowEnd {
            switch byte(at: position) {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
            case UInt8(ascii: "\n"):
                position += 1
                line += 1
                lineStart = position
            default: return
            }
        }
    }

    // MARK: Splitting

    /// Returns to the start of the value that was to be output as a whole (an object or array), to split it.
    mutating func splitAnchor() {
        stack.removeLast(stack.count - anchorDepth - 1)
        let old = stack.removeLast()
        stack.append(
            Frame(isObject: old.isObject, isSplit: true, start: old.start, line: old.line, lineStart: old.lineStart, pathCount: old.pathCount))
        position = old.start + 1
        line = old.line
        lineStart = old.lineStart
        expectation = old.isObject ? .keyOrEnd : .elementOrEnd
        unfinishedString = nil
        anchor = nil
    }
}
