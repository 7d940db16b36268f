/// A text with its index, shared by every part of one decode.
///
/// A plain pair of words: containers are copied at every call, and counting references for each copy would cost more than the
/// decoding. Its memory is never freed, but reused for one text after another. A decoder or container that outlives its decode
/// recognizes by the generation that its text is gone.
struct Document {
    let storage: UnsafeMutablePointer<DocumentStorage>
    let generation: UInt32

    @inline(__always)
    var base: UnsafePointer<UInt8> { storage.pointee.base }

    @inline(__always)
    func token(_ index: Int) -> Token { storage.pointee.tape.tokens[index] }

    /// The entry for a null that stands nowhere in the text.
    var absentToken: Int { storage.pointee.tape.count - 1 }

    var userInfo: [CodingUserInfoKey: any Sendable] { isLive ? storage.pointee.userInfo : [:] }

    /// Whether the decode is still going on.
    @inline(__always)
    var isLive: Bool { storage.pointee.generation == generation }

    /// This document while the decode is going on.
    @inline(__always)
    func live() throws -> Document {
        guard isLive else { throw Self.ended() }
        return self
    }

    @inline(never)
    private static func ended() -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "The decoder is used after its decode has ended."))
    }

    /// Reads `bytes` into a document and calls `body` with it.
    @inline(__always)
    static func with<R, E: Error>(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits, failure: (JSONError) -> E, _ body: (Document) throws(E) -> R
    ) throws(E) -> R {
        let pool = ThreadPool.current
        let storage = pool.pointee.takeDocument()
        defer { pool.pointee.giveBack(storage) }
        do throws(JSONError) {
            try storage.pointee.read(bytes, limits: limits)
        } catch {
            throw failure(error)
        }
        return try body(Document(storage: storage, generation: storage.pointee.generation))
    }
}

extension ThreadPool {
    @inline(__always)
    fileprivate mutating func takeDocument() -> UnsafeMutablePointer<DocumentStorage> {
        guard let document = freeDocuments?.assumingMemoryBound(to: DocumentStorage.self) else { return DocumentStorage.make() }
        freeDocuments = UnsafeMutableRawPointer(document.pointee.nextFree)
        return document
    }

    @inline(__always)
    fileprivate mutating func giveBack(_ document: UnsafeMutablePointer<DocumentStorage>) {
        guard document.pointee.retire() else { return }
        document.pointee.nextFree = freeDocuments?.assumingMemoryBound(to: DocumentStorage.self)
        freeDocuments = UnsafeMutableRawPointer(document)
    }
}

/// The storage of a document.
struct DocumentStorage: ~Copyable {
    /// The text, borrowed for the time of the decode.
    fileprivate(set) var base: UnsafePointer<UInt8>
    /// The number of decodes that have used this storage.
    fileprivate(set) var generation: UInt32 = 0
    var tape = Tape()
    var memberIndexes: [MemberIndex] = []
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The next free one.
    var nextFree: UnsafeMutablePointer<DocumentStorage>?

    /// Entries of a tape, 16 bytes each, that are kept for the next decode.
    private static let entriesKept = 65_536

    private init(base: UnsafePointer<UInt8>) { self.base = base }

    static func make() -> UnsafeMutablePointer<DocumentStorage> {
        let storage = UnsafeMutablePointer<DocumentStorage>.allocate(capacity: 1)
        // Any address will do: nothing is read from it while there is no text.
        storage.initialize(to: DocumentStorage(base: UnsafePointer(UnsafeRawPointer(storage).assumingMemoryBound(to: UInt8.self))))
        return storage
    }

    @inline(never)
    fileprivate mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) {
        if let start = bytes.baseAddress { base = start }
        try Scanner.scan(bytes, limits: limits, &tape)
        tape.append(.null, start: bytes.count, extent: bytes.count, flagged: false)
    }

    /// Ends a decode. False once generations are used up, when this must not serve again.
    @inline(__always)
    mutating func retire() -> Bool {
        tape.clear(keepingAtMost: Self.entriesKept)
        if !memberIndexes.isEmpty { memberIndexes = [] }
        if !userInfo.isEmpty { userInfo = [:] }
        generation &+= 1
        return generation != .max
    }
}

extension Document {
    /// The value of any type at an entry; those that JSON has itself are taken without a decoder.
    @inline(__always)
    func value<T: Decodable>(_ type: T.Type, at index: Int) throws -> T {
        if let plain = try plainValue(type, at: index) { return plain }
        return try T(from: DecoderNode(document: self, token: index))
    }

    @inline(__always)
    private func plainValue<T: Decodable>(_ type: T.Type, at index: Int) throws -> T? {
        if token(index).isKind(.array) { return try plainArray(type, at: index) }
        if T.self == JSONValue.self { return tree(at: index) as? T }
        if T.self == String.self { return try string(at: index) as? T }
        if T.self == Double.self { return try double(at: index) as? T }
        if T.self == Int.self { return try integer(Int.self, at: index) as? T }
        if T.self == Bool.self { return try bool(at: index) as? T }
        return nil
    }

    private func plainArray<T: Decodable>(_ type: T.Type, at index: Int) throws -> T? {
        if T.self == [String].self { return try elements(of: index, string) as? T }
        if T.self == [Double].self { return try elements(of: index, double) as? T }
        if T.self == [Int].self { return try elements(of: index) { try integer(Int.self, at: $0) } as? T }
        if T.self == JSONValue.self { return tree(at: index) as? T }
        return nil
    }

    @inline(__always)
    private func elements<E, F: Error>(of array: Int, _ element: (Int) throws(F) -> E) throws(F) -> [E] {
        let token = token(array)
        var elements: [E] = []
        elements.reserveCapacity(Int(token.extent))
        var child = array + 1
        while child < Int(token.next) {
            elements.append(try element(child))
            child = Int(self.token(child).next)
        }
        return elements
    }

    /// The entry and everything in it as a tree.
    func tree(at index: Int) -> JSONValue {
        let token = token(index)
        switch token.kind {
        case .null: return .null
        case .bool: return .bool(token.isFlagged)
        case .number: return number(token)
        case .string, .key: return .string(text(token))
        case .array:
            return .array(elements(of: index, tree))
        case .object:
            var object = JSONObject(minimumCapacity: Int(token.extent))
            var child = index + 1
            while child < Int(token.next) {
                object[text(self.token(child))] = tree(at: child + 1)
                child = Int(self.token(child + 1).next)
            }
            return .object(object)
        }
    }

    private func number(_ token: Token) -> JSONValue {
        let text = NumberText(base + Int(token.start), count: token.length)
        guard token.isFlagged, let (magnitude, isNegative) = text.integer else { return .double(text.double()) }
        if !isNegative { return magnitude > UInt64(Int64.max) ? .uint(magnitude) : .int(Int64(magnitude)) }
        // A whole number has no negative zero; a double has.
        guard magnitude > 0, magnitude <= 1 << 63 else { return .double(text.double()) }
        return .int(Int64(truncatingIfNeeded: 0 &- magnitude))
    }
}

extension Document {
    @inline(__always)
    private func numberText(_ token: Token) -> NumberText { NumberText(base + Int(token.start), count: token.length) }

    @inline(__always)
    func isNull(at index: Int) -> Bool { token(index).isKind(.null) }

    @inline(__always)
    func bool(at index: Int) throws -> Bool {
        let token = token(index)
        guard token.isKind(.bool) else { throw mismatch(Bool.self, at: index) }
        return token.isFlagged
    }

    @inline(__always)
    func string(at index: Int) throws -> String {
        let token = token(index)
        guard token.isKind(.string) else { throw mismatch(String.self, at: index) }
        return text(token)
    }

    /// The text of a string or key.
    @inline(__always)
    func text(_ token: Token) -> String {
        let bytes = UnsafeBufferPointer(start: base + Int(token.start), count: token.length)
        guard token.isFlagged else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: Escape.decoded(base + Int(token.start), count: token.length), as: UTF8.self)
    }

    @inline(__always)
    func double(at index: Int) throws -> Double {
        let token = token(index)
        guard token.isKind(.number) else { throw mismatch(Double.self, at: index) }
        return numberText(token).double()
    }

    @inline(__always)
    func float(at index: Int) throws -> Float {
        let token = token(index)
        guard token.isKind(.number) else { throw mismatch(Float.self, at: index) }
        let value = numberText(token).float()
        guard value.isFinite else { throw outOfRange(Float.self, at: index) }
        return value
    }

    /// A whole number; `3.0` and `3e2` are whole, too.
    @inline(__always)
    func integer<I: FixedWidthInteger>(_ type: I.Type, at index: Int) throws -> I {
        let token = token(index)
        guard token.isKind(.number) else { throw mismatch(type, at: index) }
        let text = numberText(token)
        guard token.isFlagged, let (magnitude, isNegative) = text.integer else { return try rounded(type, text, at: index) }
        if isNegative {
            if magnitude <= 1 << 63, let value = I(exactly: Int64(truncatingIfNeeded: 0 &- magnitude)) { return value }
        } else if let value = I(exactly: magnitude) {
            return value
        }
        throw outOfRange(type, at: index)
    }

    @inline(never)
    private func rounded<I: FixedWidthInteger>(_ type: I.Type, _ text: NumberText, at index: Int) throws -> I {
        guard !text.isWhole, let value = I(exactly: text.double()) else { throw outOfRange(type, at: index) }
        return value
    }

    @inline(never)
    private func outOfRange(_ type: Any.Type, at index: Int) -> DecodingError {
        .dataCorrupted(context(at: index, "The number \(number(at: index)) does not fit \(type)."))
    }

    private func number(at index: Int) -> String { text(token(index).unflagged) }
}

extension Document {
    /// The path from the top of the text to the entry at `target`.
    ///
    /// Paths are not recorded during a decode. This walks down the tape, so that only an error costs time.
    func path(to target: Int) -> [any CodingKey] {
        guard isLive else { return [] }
        var path: [any CodingKey] = []
        var current = 0
        while current < target, target < Int(token(current).next), let step = step(from: current, towards: target) {
            path.append(step.key)
            current = step.value
        }
        return path
    }

    private func step(from container: Int, towards target: Int) -> (key: JSONKey, value: Int)? {
        let isObject = token(container).isKind(.object)
        var child = container + 1
        var index = 0
        while child < Int(token(container).next) {
            let value = isObject ? child + 1 : child
            if target < Int(token(value).next) {
                guard isObject else { return (JSONKey(index: index), value) }
                return (JSONKey(keyText(child).string), value)
            }
            child = Int(token(value).next)
            index += 1
        }
        return nil
    }

    func context(at index: Int, _ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: path(to: index), debugDescription: description)
    }

    /// The error for an entry of the wrong kind for `type`.
    @inline(never)
    func mismatch(_ type: Any.Type, at index: Int) -> DecodingError {
        let kind = token(index).kind
        if kind == .null {
            return .valueNotFound(type, context(at: index, "Expected \(type), found null."))
        }
        return .typeMismatch(type, context(at: index, "Expected \(type), found \(kind)."))
    }
}
