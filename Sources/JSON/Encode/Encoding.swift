import Bytes

/// The text of one encode while it grows.
///
/// A value is written where it is encoded. What a type's `encode(to:)` does stands between two calls of this class, so one
/// frame is open at a time, and the frames around it wait on the native stack. Nested containers and super encoders may be
/// written to in any order, so each has an encoding of its own, whose text is put in its place at the end: see `Splice`.
final class Encoding {
    /// What the open frame has made of itself.
    enum Shape: UInt8 {
        case nothing, scalar, array, object
    }

    /// A frame that is never open.
    static let closedFrame = -1
    /// Bytes of text that a thread keeps room for.
    private static let bytesKept = 1 << 20

    var output = ByteBuffer()
    /// The frame that may be written to; a container of any other one is stale.
    var frame = closedFrame
    var shape = Shape.nothing
    /// Whether a comma goes before the next member or element.
    var needsComma = false
    private var lastFrame = 0
    /// Where in `output` the text begins.
    var start = 0
    var splices: [Splice] = []
    /// Where this text belongs, when it is a nested one; let go when the parent is done.
    var place: (parent: Encoding, position: Int)?
    /// What a call that cannot throw found wrong.
    private var failure: EncodingError?
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Calls `body` with the thread's encoding.
    @inline(__always)
    static func with<R>(_ body: (Encoding) throws -> R) throws -> R {
        let cache = ThreadCache.current
        var encoding = cache.encoding ?? Encoding()
        cache.encoding = nil
        defer {
            encoding.output.clear(keepingAtMost: bytesKept)
            if cache.encoding == nil, isKnownUniquelyReferenced(&encoding) { cache.encoding = encoding }
        }
        return try body(encoding)
    }

    /// Encodes the value that is the whole text; `output` is as before when that fails.
    @inline(__always)
    func top<T: Encodable>(_ value: T, _ userInfo: [CodingUserInfoKey: any Sendable]) throws {
        start = output.count
        if !userInfo.isEmpty { self.userInfo = userInfo }
        defer { finish() }
        do {
            try self.value(value, isTop: true)
            if let failure { throw failure }
        } catch {
            output.truncate(to: start)
            throw error
        }
        if !splices.isEmpty { assemble() }
    }

    @inline(__always)
    private func finish() {
        frame = Self.closedFrame
        shape = .nothing
        needsComma = false
        if !userInfo.isEmpty { userInfo = [:] }
        if failure != nil { failure = nil }
        if !splices.isEmpty { dropSplices(downTo: 0) }
    }

    /// Writes a value of any type where one is due.
    @inline(__always)
    func value<T: Encodable>(_ value: T, isTop: Bool = false) throws {
        if try plain(value) { return }
        let outer = (frame, shape)
        let inner = beginFrame()
        try value.encode(to: EncoderNode(encoding: self, frame: inner))
        if isTop, shape == .nothing {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(T.self) did not encode anything."))
        }
        closeShape()
        (frame, shape) = outer
    }

    /// Values of the types that JSON has itself are written without an encoder.
    @inline(__always)
    private func plain<T: Encodable>(_ value: T) throws -> Bool {
        if T.self == String.self, let text = value as? String {
            output.appendQuoted(text)
        } else if T.self == Double.self, let number = value as? Double {
            try self.number(number)
        } else if T.self == Int.self, let number = value as? Int {
            output.appendNumber(number)
        } else if T.self == Bool.self, let bool = value as? Bool {
            self.bool(bool)
        } else if T.self == JSONValue.self, let tree = value as? JSONValue {
            tree.write(to: &output)
        } else {
            return false
        }
        return true
    }

    /// Opens a frame that has not made anything of itself yet.
    @inline(__always)
    func beginFrame() -> Int {
        lastFrame += 1
        frame = lastFrame
        shape = .nothing
        return lastFrame
    }

    /// Makes the frame an object or an array. False, with the failure noted, when it is closed or something else already.
    func open(_ wanted: Shape, _ frame: Int) -> Bool {
        if frame == self.frame, shape == wanted { return true }
        guard frame == self.frame, shape == .nothing else {
            note("This encoder has been used up by another container or value.")
            return false
        }
        shape = wanted
        output.append(wanted == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        needsComma = false
        return true
    }

    /// Ends what the open frame has begun.
    @inline(__always)
    func closeShape() {
        switch shape {
        case .object: output.append(UInt8(ascii: "}"))
        case .array: output.append(UInt8(ascii: "]"))
        case .nothing: output.append("{}")
        case .scalar: break
        }
        needsComma = true
    }

    /// Keeps the first failure of a call that cannot throw, for the end.
    @inline(never)
    func note(_ description: String) {
        guard failure == nil else { return }
        failure = .invalidValue((), EncodingError.Context(codingPath: path, debugDescription: description))
    }

    @inline(never)
    func invalid(_ value: Any, _ description: String, at key: (any CodingKey)? = nil) -> EncodingError {
        // Without a key of its own the value is the one that is due where the text ends.
        let path = key.map { self.path + [$0] } ?? path(isDue: true)
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
    }
}
