import Crypto
import HearthBytes

/// A text that is hashed piece by piece, so that only a few kilobytes of it are in memory.
struct HashedText: ~Copyable {
    /// Nil before the first update, and during one: a single owner, so that updating does not copy the state.
    private var sha: Insecure.SHA1?
    /// The end of the text, which is not hashed yet. The caller appends to it.
    var pending = ByteBuffer()

    private static let pendingMax = 4096

    mutating func add(_ bytes: Span<UInt8>) {
        pending.append(bytes)
        flushIfLong()
    }

    /// To be called between pieces.
    mutating func flushIfLong() {
        if pending.count >= Self.pendingMax { flush() }
    }

    /// The same text, to be continued differently.
    func copy() -> HashedText {
        var copy = HashedText()
        copy.sha = sha
        copy.pending.append(pending.bytes)
        return copy
    }

    /// The hash of the text. Another text can begin.
    mutating func finish() -> NodeHash {
        flush()
        return NodeHash((sha.take() ?? Insecure.SHA1()).finalize())
    }

    private mutating func flush() {
        var sha = sha.take() ?? Insecure.SHA1()
        pending.withUnsafeBytes { sha.update(bufferPointer: $0) }
        pending.clear()
        self.sha = sha
    }
}
