import HearthBytes

/// One encode, shared by every encoder and container of it.
///
/// A value is written where it is encoded. A type's `encode(to:)` runs between two calls of this type, so that one frame is open at
/// a time, and the frames around it wait on the native stack. Nested containers and super encoders may be written to
/// in any order, so each has an encoding of its own, whose text is put in its place at the end.
///
/// A plain pointer: containers are copied at every call, and counting references for each copy would cost more than the
/// encoding. Its memory is never freed, and a container that outlives its encode finds its frame closed.
struct Encoding {
    let text: UnsafeMutablePointer<EncodingText>

    /// The memory that is kept for the next text, in bytes.
    private static let bytesKept = 1 << 20

    /// Calls `body` with an encoding that is empty.
    @inline(__always)
    static func with<R>(_ body: (Encoding) throws -> R) throws -> R {
        let pool = ThreadPool.current
        let encoding = Encoding(text: pool.pointee.takeEncoding())
        defer { encoding.giveBack(to: pool) }
        return try body(encoding)
    }

    @inline(__always)
    func giveBack(to pool: UnsafeMutablePointer<ThreadPool>) {
        text.pointee.output.clear(keepingAtMost: Self.bytesKept)
        text.pointee.reset()
        pool.pointee.giveBack(text)
    }

    /// Encodes the value that is the whole text; the output is as before when that fails.
    @inline(__always)
    func top<T: Encodable>(_ value: T, _ encoder: JSONEncoder) throws {
        let start = text.pointee.output.count
        text.pointee.start = start
        // A container that has outlived an earlier encode may have left a failure.
        if text.pointee.failure != nil { text.pointee.failure = nil }
        text.pointee.largeDoubles = encoder.largeDoubles
        if !encoder.userInfo.isEmpty { text.pointee.userInfo = encoder.userInfo }
        defer { dropSplices(downTo: 0) }
        do {
            try self.value(value, isTop: true)
            if let failure = text.pointee.failure { throw failure }
        } catch {
            text.pointee.output.truncate(to: start)
            throw error
        }
        if !text.pointee.splices.isEmpty { assemble() }
    }

    /// Writes a value of any type where one is due.
    @inline(__always)
    func value<T: Encodable>(_ value: T, isTop: Bool = false) throws {
        if try plain(value) { return }
        let outer = (text.pointee.frame, text.pointee.shape)
        let inner = text.pointee.beginFrame()
        try value.encode(to: EncoderNode(encoding: self, frame: inner))
        if isTop, text.pointee.shape == .nothing, text.pointee.failure == nil {
            throw invalid(value, "\(T.self) did not encode anything.")
        }
        text.pointee.closeShape()
        (text.pointee.frame, text.pointee.shape) = outer
    }

    /// Values of the types that JSON has itself are written without an encoder.
    @inline(__always)
    private func plain<T: Encodable>(_ value: T) throws -> Bool {
        if T.self == String.self, let string = value as? String {
            text.pointee.output.appendQuoted(string)
        } else if T.self == Double.self, let number = value as? Double {
            try self.number(number)
        } else if T.self == Int.self, let number = value as? Int {
            text.pointee.output.appendNumber(number)
        } else if T.self == Bool.self, let bool = value as? Bool {
            text.pointee.bool(bool)
        } else if T.self == JSONValue.self, let tree = value as? JSONValue {
            tree.write(to: &text.pointee.output, large: text.pointee.largeDoubles)
        } else {
            return false
        }
        return true
    }

    /// Writes a number where one is due.
    @inline(__always)
    func number(_ value: Double) throws {
        guard value.isFinite else { throw invalid(value, "JSON has no \(value).") }
        text.pointee.output.appendNumber(value, large: text.pointee.largeDoubles)
    }

    /// Writes a number where one is due.
    @inline(__always)
    func number(_ value: Float) throws {
        guard value.isFinite else { throw invalid(value, "JSON has no \(value).") }
        text.pointee.output.appendNumber(value, large: text.pointee.largeDoubles)
    }

    /// Runs `body`, which writes a member or element, and removes its output if it throws.
    @inline(__always)
    func attempt(_ body: () throws -> Void) throws {
        let (frame, shape, needsComma) = (text.pointee.frame, text.pointee.shape, text.pointee.needsComma)
        let (length, splices) = (text.pointee.output.count, text.pointee.splices.count)
        do {
            try body()
        } catch {
            text.pointee.output.truncate(to: length)
            dropSplices(downTo: splices)
            (text.pointee.frame, text.pointee.shape, text.pointee.needsComma) = (frame, shape, needsComma)
            throw error
        }
    }
}

extension Encoding {
    /// The encoder for a text that will stand where this one's ends now.
    func nested() -> EncoderNode {
        let child = Encoding(text: ThreadPool.current.pointee.takeEncoding())
        child.text.pointee.start = 0
        child.text.pointee.largeDoubles = text.pointee.largeDoubles
        child.text.pointee.userInfo = text.pointee.userInfo
        child.text.pointee.place = (self, text.pointee.output.count)
        text.pointee.splices.append(EncodingText.Splice(position: text.pointee.output.count, child: child))
        return EncoderNode(encoding: child, frame: child.text.pointee.beginFrame())
    }

    /// An encoder that only records that it must not be used.
    func nowhere() -> EncoderNode {
        noteStale()
        return EncoderNode(encoding: self, frame: EncodingText.closedFrame)
    }

    /// Gives nested texts back, from the end.
    func dropSplices(downTo count: Int) {
        while text.pointee.splices.count > count {
            let child = text.pointee.splices.removeLast().child
            child.dropSplices(downTo: 0)
            child.giveBack(to: ThreadPool.current)
        }
    }

    /// Puts the nested texts in their places.
    func assemble() {
        var whole = ByteBuffer(capacity: text.pointee.output.count * 2)
        var copied = 0
        for splice in text.pointee.splices {
            append(copied..<splice.position, to: &whole)
            copied = splice.position
            splice.child.text.pointee.closeShape()
            if !splice.child.text.pointee.splices.isEmpty { splice.child.assemble() }
            splice.child.text.pointee.output.withUnsafeBytes { whole.append($0) }
        }
        append(copied..<text.pointee.output.count, to: &whole)
        swap(&text.pointee.output, &whole)
    }

    private func append(_ range: Range<Int>, to whole: inout ByteBuffer) {
        text.pointee.output.withUnsafeBytes { whole.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}

extension Encoding {
    /// The path from the top to the end of the text so far.
    ///
    /// Paths are not recorded during an encode. This reads them from the text, so that only an error costs time.
    var path: [any CodingKey] { path(isDue: text.pointee.shape == .nothing || text.pointee.shape == .scalar) }

    /// `isDue` says whether a member's value or an element comes next, so that the innermost container counts.
    func path(isDue: Bool) -> [any CodingKey] { path(upTo: text.pointee.output.count, isDue: isDue) }

    private func path(upTo end: Int, isDue: Bool) -> [any CodingKey] {
        let start = min(text.pointee.start, end)
        var steps = text.pointee.output.withUnsafeBytes { OpenContainers(UnsafeRawBufferPointer(rebasing: $0[start..<end])).steps }
        if !isDue, !steps.isEmpty { steps.removeLast() }
        guard let place = text.pointee.place else { return steps }
        return place.parent.path(upTo: place.position, isDue: true) + steps
    }
}

/// Which containers an unfinished text leaves open, each with the step that leads on from it.
private struct OpenContainers {
    private var isObject: [Bool] = []
    private var last: [JSONKey] = []

    var steps: [any CodingKey] { last }

    init(_ text: UnsafeRawBufferPointer) {
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                isObject.append(byte == UInt8(ascii: "{"))
                last.append(JSONKey(index: 0))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                isObject.removeLast()
                last.removeLast()
            case UInt8(ascii: ","):
                guard let step = last.last?.intValue, isObject.last == false else { continue }
                last[last.count - 1] = JSONKey(index: step + 1)
            case UInt8(ascii: "\""):
                let name = Self.stringEnd(text, index)
                if name + 1 < text.count, text[name + 1] == UInt8(ascii: ":"), isObject.last == true {
                    last[last.count - 1] = JSONKey(Self.decoded(text, index..<name))
                }
                index = name + 1
            default:
                continue
            }
        }
    }

    /// The position of the closing quote.
    private static func stringEnd(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var index = start
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }

    private static func decoded(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        guard let base = text.baseAddress else { return "" }
        let name = (base + range.lowerBound).assumingMemoryBound(to: UInt8.self)
        return KeyText(name, count: range.count, hasEscapes: true).string
    }
}

extension Encoding {
    /// The error for a value that cannot be written where one is due, or under `key`.
    @inline(never)
    func invalid(_ value: Any, _ description: String, at key: (any CodingKey)? = nil) -> EncodingError {
        let path = key.map { self.path + [$0] } ?? path(isDue: true)
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
    }

    /// The error for a container or encoder that is used although another one is open, or none.
    @inline(never)
    func stale() -> EncodingError {
        .invalidValue((), EncodingError.Context(codingPath: path, debugDescription: "This container or encoder is not the one that is open."))
    }

    /// Keeps the first error of a call that cannot throw. The encode throws it at its end.
    @inline(never)
    func noteStale() {
        var top = self
        while let place = top.text.pointee.place { top = place.parent }
        if top.text.pointee.failure == nil { top.text.pointee.failure = stale() }
    }
}

extension ThreadPool {
    @inline(__always)
    fileprivate mutating func takeEncoding() -> UnsafeMutablePointer<EncodingText> {
        guard let encoding = freeEncodings?.assumingMemoryBound(to: EncodingText.self) else { return EncodingText.make() }
        freeEncodings = UnsafeMutableRawPointer(encoding.pointee.nextFree)
        return encoding
    }

    @inline(__always)
    fileprivate mutating func giveBack(_ encoding: UnsafeMutablePointer<EncodingText>) {
        encoding.pointee.nextFree = freeEncodings?.assumingMemoryBound(to: EncodingText.self)
        freeEncodings = UnsafeMutableRawPointer(encoding)
    }
}
