import HearthBytes
import HearthJSON

/// Takes a JSON text of any size apart into values that are small enough to be sent one by one.
///
/// Text goes in piece by piece with ``append(_:)``, values come out of ``next()``. Together they are the text: each leaf is in
/// exactly one value, and none of the values is above another. Objects and arrays are kept whole as long as they are not
/// longer than ``JSONSplitLimits/valueBytesMax``; the root is always split, unless it is a leaf. What is in memory at any time
/// is one value, and what was appended last.
///
/// The priorities of objects that were split cannot be set before their children are there: they wait in ``priorities``.
///
/// An object that turns out to be too long is read once more from its beginning, this time as one that is split. So every
/// byte is read at most twice for each level on which it was in such an object; text that is already out is not needed again.
public struct JSONSplitter: ~Copyable {
    let limits: JSONSplitLimits
    /// Whether values come out, and not only mistakes.
    let collects: Bool
    /// The priorities of objects that were split, each with the path of its object, to be set at the very end.
    public internal(set) var priorities: [JSONPiece] = []

    var window = ByteBuffer()
    /// The byte of the text that the window begins with.
    var windowStart = 0
    /// The byte of the text that comes next.
    var position = 0
    var stack: [Frame] = []
    /// The path of the member that is being read, of the innermost frame that is split.
    var path: [UInt8] = []
    var expectation = Expectation.value
    /// Where the value begins that will leave as a whole; the frames from `anchorDepth` on are inside it.
    var anchor: Int?
    var anchorDepth = 0
    var line = 1
    /// The byte of the text that the line begins with.
    var lineStart = 0
    var unfinishedString: UnfinishedString?
    var isFinished = false

    /// What may come next.
    enum Expectation {
        case value, elementOrEnd, keyOrEnd, key, colon, commaOrEnd, nothing
    }

    /// An array or object that is open.
    struct Frame {
        let isObject: Bool
        var isSplit: Bool
        let start: Int
        let line: Int
        let lineStart: Int
        /// How long `path` is without the member.
        let pathCount: Int
        var member = Member.ordinary
        /// How many elements of an array have begun.
        var elementCount = 0
        var hasValue = false
        var hasOthers = false
    }

    /// What a key means (spec database 1.3).
    enum Member {
        case ordinary, value, priority, serverValue
    }

    /// A string whose end has not come yet.
    struct UnfinishedString {
        let start: Int
        /// Up to where it has been read.
        var position: Int
        /// Whether all so far is ASCII without escapes.
        var isPlain: Bool
    }

    /// A splitter at the beginning of a text.
    ///
    /// - Parameter collects: false for a text that is only to be checked: ``next()`` returns nothing, or throws.
    public init(limits: JSONSplitLimits = JSONSplitLimits(), collects: Bool = true) {
        self.limits = limits
        self.collects = collects
    }

    /// How many bytes of the text are held in memory.
    public var heldBytes: Int { window.count }

    /// How much of the text has been read.
    public var bytesRead: Int { position }

    /// Adds what follows in the text.
    public mutating func append(_ bytes: Span<UInt8>) {
        release()
        window.append(bytes)
    }

    /// Says that nothing more follows.
    public mutating func finish() { isFinished = true }

    /// The next value.
    ///
    /// - Returns: nil when more text is needed, or when after ``finish()`` there is no further value.
    /// - Throws: `JSONSplitError` where the text is not JSON, or not what a database holds.
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
        case .keyOrEnd: return try byte == UInt8(ascii: "}") ? close() : key(byte)
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

    /// Forgets what will not be looked at again.
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

    /// Goes back to the beginning of the value that was to leave as a whole, which is an object or array, to split it.
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
