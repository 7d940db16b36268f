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
}
