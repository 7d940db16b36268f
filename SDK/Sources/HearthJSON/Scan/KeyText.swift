/// A member's name as it stands between its quotes in a text that a scan has accepted.
struct KeyText {
    let base: UnsafePointer<UInt8>
    let count: Int
    let hasEscapes: Bool

    @inline(__always)
    init(_ base: UnsafePointer<UInt8>, count: Int, hasEscapes: Bool) {
        self.base = base
        self.count = count
        self.hasEscapes = hasEscapes
    }

    /// The name with escapes resolved.
    var string: String { withDecoded { String(decoding: $0, as: UTF8.self) } }

    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        equals(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether the name is `text`, escapes resolved.
    @inline(__always)
    func equals(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if hasEscapes { return equalsDecoded(text) }
        guard count == text.count else { return false }
        guard count > 0, let other = text.baseAddress else { return true }
        return Word.equal(base, other, count: count)
    }

    @inline(never)
    private func equalsDecoded(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count > text.count else { return false }
        return Escape.decoded(base, count: count).elementsEqual(text)
    }

    /// Calls `body` with the name's bytes, escapes resolved.
    @inline(__always)
    func withDecoded<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        guard hasEscapes else { return body(UnsafeBufferPointer(start: base, count: count)) }
        return Escape.decoded(base, count: count).withUnsafeBufferPointer(body)
    }
}
