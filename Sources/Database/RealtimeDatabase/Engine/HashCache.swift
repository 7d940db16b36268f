import Synchronization

/// Caches hashes of subtrees in one state of the tree, so that a large subtree need not be read again for its hash. Can be used from any
/// thread.
final class HashCache: Sendable {
    /// The size from which on hashes are cached.
    private static let rowsMin = 256
    private static let countMax = 1024

    private struct Hashes {
        var state: UInt64?
        var byKey: [[UInt8]: String] = [:]
    }

    private let hashes = Mutex(Hashes())

    /// - Parameter state: a number of the tree's state, such as that of a commit.
    func hash(at key: [UInt8], in state: UInt64) -> String? {
        hashes.withLock { $0.state == state ? $0.byKey[key] : nil }
    }

    /// Stores a hash of the newest state. Hashes of older states are dropped.
    ///
    /// - Parameter rows: the number of rows that were read for it.
    func keep(_ hash: String, at key: [UInt8], in state: UInt64, rows: Int) {
        guard rows >= Self.rowsMin else { return }
        hashes.withLock { hashes in
            if let known = hashes.state, known > state { return }
            if hashes.state != state || hashes.byKey.count >= Self.countMax { hashes = Hashes(state: state) }
            hashes.byKey[key] = hash
        }
    }
}
