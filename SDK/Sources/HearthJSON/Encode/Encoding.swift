import HearthBytes

/// One encode, shared by every encoder and container of it.
///
/// A value is written where it is encoded. What a type's `encode(to:)` does stands between two calls of this type, so one frame
/// is open at a time, and the frames around it wait on the native stack. Nested containers and super encoders may be written to
/// in any order, so each has an encoding of its own, whose text is put in its place at the end.
///
/// A plain pointer: containers are copied at every call, and counting references for each copy would cost more than the
/// encoding. What it points to is never freed, and a container that outlives its encode finds its frame closed.
struct Encoding {
    let text: UnsafeMutablePointer<EncodingText>

    /// Bytes of text that are kept room for.
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
        // What a container that has outlived an earlier encode may have left.
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

    /// Runs `body`, which writes a member or element, and takes back what it wrote if it throws.
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
