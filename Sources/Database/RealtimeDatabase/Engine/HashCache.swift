/// Hashes of subtrees in one state of the tree: whoever asks again for the hash of a large subtree does not make it be read again.
struct HashCache {
    /// Smaller subtrees are read again.
    private static let rowsMin = 256
    private static let countMax = 1024
    private var state: UInt64?
    private var hashes: [[UInt8]: String] = [:]

    /// - Parameter state: names the state of the tree, as the number of a commit does.
    mutating func hash(at key: [UInt8], in state: UInt64) -> String? {
        guard self.state == state else { return nil }
        return hashes[key]
    }

    /// - Parameter rows: how many were looked at for it.
    mutating func keep(_ hash: String, at key: [UInt8], in state: UInt64, rows: Int) {
        guard rows >= Self.rowsMin else { return }
        if self.state != state || hashes.count >= Self.countMax {
            self.state = state
            hashes = [:]
        }
        hashes[key] = hash
    }
}
