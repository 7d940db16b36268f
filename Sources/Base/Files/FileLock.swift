import Glibc

/// An exclusive lock on a file. While it lives, no other process has one; the system ends it with the last process that has its open file.
public final class FileLock: Sendable {
    /// The open file that the lock belongs to: a process that inherits it shares the lock.
    public let descriptor: Int32

    /// Makes the file where it is missing, with mode 0600, and locks it at once.
    ///
    /// - Throws: `FileFailure`, whose ``FileFailure/isBusy`` says that another process has the lock.
    public init(_ path: String) throws(FileFailure) {
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("opened") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw FileFailure("locked", code: code)
        }
        // Last: `deinit` would close the descriptor once more for what throws from here on.
        self.descriptor = descriptor
    }

    /// The lock of an open file that this process has inherited; it becomes the lock's.
    public init(inherited descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
