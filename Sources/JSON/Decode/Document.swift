/// A text with its index, shared by every part of one decode.
///
/// The bytes are borrowed for the time of the decode. Whoever keeps a decoder or a container beyond it holds the document, so
/// that the end of the decode sees the extra owner and gives the document bytes of its own: see `release(_:)`.
final class Document {
    private(set) var base: UnsafePointer<UInt8>
    private var owned: UnsafeMutablePointer<UInt8>?
    var tape = Tape()
    var memberIndexes: [MemberIndex] = []
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Entries of a tape, 16 bytes each, that a thread keeps.
    private static let entriesKept = 65_536
    /// What `base` points to while there is no text.
    private let nothing = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

    private init() { base = UnsafePointer(nothing) }

    deinit {
        owned?.deallocate()
        nothing.deallocate()
    }

    /// The entry for a null that stands nowhere in the text.
    @inline(__always)
    var absentToken: Int { tape.count - 1 }

    /// Reads `bytes` into a document and calls `body` with it.
    @inline(__always)
    static func with<R, E: Error>(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits, failure: (JSONError) -> E, _ body: (Document) throws(E) -> R
    ) throws(E) -> R {
        let cache = ThreadCache.current
        var document = cache.document ?? Document()
        cache.document = nil
        defer { release(&document, bytes, to: cache) }
        do throws(JSONError) {
            try document.read(bytes, limits: limits)
        } catch {
            throw failure(error)
        }
        return try body(document)
    }

    @inline(never)
    func read(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) {
        if let start = bytes.baseAddress { base = start }
        try Scanner.scan(bytes, limits: limits, &tape)
        tape.append(.null, start: bytes.count, extent: bytes.count, flagged: false)
    }

    @inline(__always)
    private static func release(_ document: inout Document, _ bytes: UnsafeBufferPointer<UInt8>, to cache: ThreadCache) {
        guard isKnownUniquelyReferenced(&document) else { return document.own(bytes) }
        document.tape.clear(keepingAtMost: entriesKept)
        document.base = UnsafePointer(document.nothing)
        if !document.memberIndexes.isEmpty { document.memberIndexes = [] }
        if !document.userInfo.isEmpty { document.userInfo = [:] }
        if cache.document == nil { cache.document = document }
    }

    @inline(never)
    private func own(_ bytes: UnsafeBufferPointer<UInt8>) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        _ = copy.initialize(from: bytes)
        owned = copy.baseAddress
        if let start = copy.baseAddress { base = UnsafePointer(start) }
    }

    @inline(__always)
    func token(_ index: Int) -> Token { tape.tokens[index] }
}
