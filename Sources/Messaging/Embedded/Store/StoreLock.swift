#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// While it lives, no other process has the store open. The system ends it with the process.
final class StoreLock {
    private let descriptor: Int32

    init(_ path: String) throws(StoreOpenError) {
        descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreOpenError("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            guard reason != EWOULDBLOCK else { throw StoreOpenError("another process has the messages of this data folder open; stop it first") }
            throw StoreOpenError("\(path) cannot be locked: \(String(cString: strerror(reason)))")
        }
    }

    deinit { close(descriptor) }

    /// Makes an empty file for its owner only, and does nothing where there is one: SQLite would let everybody read it.
    static func makeFile(_ path: String) {
        // One that is there is not opened: to close it would end SQLite's own locks.
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }
}
