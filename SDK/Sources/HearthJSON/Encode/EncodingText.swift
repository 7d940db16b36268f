import HearthBytes

/// The text of one encode so far, and its open frame.
struct EncodingText: ~Copyable {
    /// Outcome of the current frame.
    enum Shape: UInt8 {
        case nothing, scalar, array, object
    }

    /// The text of a nested container or super encoder, and the position in its parent's text where it belongs.
    struct Splice {
        let position: Int
        let child: Encoding
    }

    /// The frame of a container that must not be written to.
    static let closedFrame = -1
    /// The frame that is open while nothing is encoded. No container has it.
    private static let idleFrame = 0

    var output = ByteBuffer()
    /// The frame that may be written to; a container of any other one is stale. Numbers are never used again.
    var frame = idleFrame
    var shape = Shape.nothing
    /// Whether a comma goes before the next member or element.
    var needsComma = false
    private var lastFrame = 0
    /// The start of the text in `output`.
    var start = 0
    var splices: [Splice] = []
    /// The place of this text in its parent; nil for the outermost.
    var place: (parent: Encoding, position: Int)?
    /// The error of a call that cannot throw.
    var failure: (any Error)?
    var largeDoubles = LargeDoubles.digits
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The next free one.
    var nextFree: UnsafeMutablePointer<EncodingText>?

    static func make() -> UnsafeMutablePointer<EncodingText> {
        let text = UnsafeMutablePointer<EncodingText>.allocate(capacity: 1)
        text.initialize(to: EncodingText())
        return text
    }

    /// Closes every frame and resets everything except `output`.
    @inline(__always)
    mutating func reset() {
        frame = Self.idleFrame
        shape = .nothing
        needsComma = false
        place = nil
        if failure != nil { failure = nil }
        if !userInfo.isEmpty { userInfo = [:] }
    }

    /// Opens an empty frame.
    @inline(__always)
    mutating func beginFrame() -> Int {
        lastFrame += 1
        frame = lastFrame
        shape = .nothing
        return lastFrame
    }

    /// Makes the frame an object or an array. False when it is closed or something else already.
    @inline(__always)
    mutating func open(_ wanted: Shape, _ frame: Int) -> Bool {
        guard frame == self.frame else { return false }
        if shape == wanted { return true }
        guard shape == .nothing else { return false }
        shape = wanted
        output.append(wanted == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        needsComma = false
        return true
    }

    /// Ends the array or object of the open frame.
    @inline(__always)
    mutating func closeShape() {
        switch shape {
        case .object: output.append(UInt8(ascii: "}"))
        case .array: output.append(UInt8(ascii: "]"))
        case .nothing: output.append("{}")
        case .scalar: break
        }
        needsComma = true
    }

    /// Begins a member: comma, name, colon. False when the frame is not the open one.
    @inline(__always)
    mutating func key(_ name: String, _ frame: Int) -> Bool {
        guard frame == self.frame else { return false }
        output.appendKey(name, comma: needsComma)
        needsComma = true
        return true
    }

    /// Begins an element: the comma. False when the frame is not the open one.
    @inline(__always)
    mutating func element(_ frame: Int) -> Bool {
        guard frame == self.frame else { return false }
        if needsComma { output.append(UInt8(ascii: ",")) }
        needsComma = true
        return true
    }

    /// Begins the only value of a frame. False when the frame is not the open one, or not empty.
    @inline(__always)
    mutating func single(_ frame: Int) -> Bool {
        guard frame == self.frame, shape == .nothing else { return false }
        shape = .scalar
        return true
    }

    @inline(__always)
    mutating func null() { output.append("null") }

    @inline(__always)
    mutating func bool(_ value: Bool) {
        if value { output.append("true") } else { output.append("false") }
    }
}
