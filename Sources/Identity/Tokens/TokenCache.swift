import Glibc

/// Tokens that were verified before, found by their whole text.
///
/// Two halves: what is used moves to the young one; when that is full it becomes the old one, and the old one is forgotten. So
/// what was used lately stays, each step takes the same short time, and the bounds hold at every moment.
struct TokenCache {
    struct Entry {
        let token: [UInt8]
        let verified: VerifiedToken
        /// The keys that it was verified with (``KeySet/generation``).
        let generation: Int

        /// About the memory that it takes.
        var bytes: Int { token.count + verified.claims.count + verified.subject.utf8.count + 200 }
    }

    private var young: [Int: Entry] = [:]
    private var old: [Int: Entry] = [:]
    private var youngBytes = 0
    private let halfEntriesMax: Int
    private let halfBytesMax: Int

    /// - Parameters:
    ///   - entriesMax: at least 2.
    ///   - bytesMax: what all entries take together, about.
    init(entriesMax: Int, bytesMax: Int) {
        halfEntriesMax = max(1, entriesMax / 2)
        halfBytesMax = bytesMax / 2
    }

    var count: Int { young.count + old.count }

    /// The bytes of all entries.
    var bytes: Int { young.values.reduce(0) { $0 + $1.bytes } + old.values.reduce(0) { $0 + $1.bytes } }

    /// The entry of this very text. Its owner judges whether it still holds.
    mutating func find(_ token: Span<UInt8>) -> Entry? {
        let slot = Self.slot(of: token)
        if let entry = young[slot] { return Self.isEqual(entry.token, token) ? entry : nil }
        guard let entry = old[slot], Self.isEqual(entry.token, token) else { return nil }
        old[slot] = nil
        insert(entry, at: slot)
        return entry
    }

    mutating func insert(_ entry: Entry) {
        let slot = Self.slot(of: entry.token.span)
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

    /// Of a signed token from its end alone, because that of a signature is as good as random and only verified tokens are ever
    /// inserted: nobody can choose tokens that meet in one slot. An unsigned one, which ends with a dot, counts whole. The hasher
    /// is seeded anew in each process all the same.
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
