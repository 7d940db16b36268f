/// A text with its index, shared by every part of one decode.
///
/// A plain pair of words: containers are copied at every call, and counting references for each copy would cost more than the
/// decoding. What it points to is never freed but used for one text after another, and a decoder or container that outlives its
/// decode finds by the generation that its text is gone.
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

/// What a document points to.
struct DocumentStorage: ~Copyable {
    /// The text, borrowed for the time of the decode.
    fileprivate(set) var base: UnsafePointer<UInt8>
    /// How many decodes this has served.
    fileprivate(set) var generation: UInt32 = 0
    var tape = Tape()
    var memberIndexes: [MemberIndex] = []
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The next one that waits for work.
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
