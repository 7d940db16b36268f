import Glibc

/// Verified tokens, found by their full text.
///
/// Two generations: a used entry moves to the young one; when that is full it becomes the old one, and the previous old one is dropped.
/// Recently used entries stay, each operation takes constant time, and the bounds always hold.
struct TokenCache {
    struct Entry {
        let verified: VerifiedToken
        /// The generation of the keys that verified it (``KeySet/generation``).
        let generation: Int
        /// Whether a key of the host itself verified it.
        var isOwn = false

        /// Estimated memory.
        var bytes: Int { verified.text.count + verified.claims.count + verified.subject.utf8.count + 200 }
    }

    private var young: [Int: Entry] = [:]
    private var old: [Int: Entry] = [:]
    private var youngBytes = 0
    private let halfEntriesMax: Int
    private let halfBytesMax: Int

    /// - Parameters:
    ///   - entriesMax: at least 2.
    ///   - bytesMax: estimated memory of all entries.
    init(entriesMax: Int, bytesMax: Int) {
        halfEntriesMax = max(1, entriesMax / 2)
        halfBytesMax = bytesMax / 2
    }

    var count: Int { young.count + old.count }

    /// The bytes of all entries.
    var bytes: Int { young.values.reduce(0) { $0 + $1.bytes } + old.values.reduce(0) { $0 + $1.bytes } }

    /// The entry with exactly this text. The caller checks whether it is still valid.
    mutating func find(_ token: Span<UInt8>) -> Entry? {
        let slot = Self.slot(of: token)
        if let entry = young[slot] { return Self.isEqual(entry.verified.text, token) ? entry : nil }
        guard let entry = old[slot], Self.isEqual(entry.verified.text, token) else { return nil }
        old[slot] = nil
        insert(entry, at: slot)
        return entry
    }

    mutating func insert(_ entry: Entry) {
        let slot = Self.slot(of: entry.verified.text.span)
        old[slot] = nil
        insert(entry, at: slot)
    }

    mutating func remove(_ token: Span<UInt8>) {
        let slot = Self.slot(of: token)
        if let removed = young.removeValue(forKey: slot) { youngBytes -= removed.bytes }
        old[slot] = nil
    }

    private mutating func insert(_ entry: Entry, at slot: Int) {
        guard entry.bytes <= halfBytesMax else { return }
        if let replaced = young.removeValue(forKey: slot) { youngBytes -= replaced.bytes }
        if young.count == halfEntriesMax || youngBytes + entry.bytes > halfBytesMax {
            old = young
            young = [:]
            youngBytes = 0
        }
        young[slot] = entry
        youngBytes += entry.bytes
    }

    /// Hashes only the end of a signed token: a signature is effectively random and only verified tokens are inserted, so an attacker
    /// cannot choose colliding tokens. An unsigned token, which ends with a dot, is hashed completely. The hasher is seeded in each process
    /// anyway.
    private static func slot(of token: Span<UInt8>) -> Int {
        var hasher = Hasher()
        token.withUnsafeBytes { token in
            let isSigned = token.last != UInt8(ascii: ".")
            hasher.combine(bytes: isSigned ? UnsafeRawBufferPointer(rebasing: token.suffix(32)) : token)
        }
        return hasher.finalize()
    }

    private static func isEqual(_ left: [UInt8], _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return right.withUnsafeBytes { right in
            left.withUnsafeBytes { left in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
    }
}
