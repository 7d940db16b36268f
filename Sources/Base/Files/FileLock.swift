import Glibc

/// An exclusive lock on a file, against other processes. The system releases it when the last process with its open file ends.
public final class FileLock: Sendable {
    /// The open file of the lock. A process that inherits it shares the lock.
    public let descriptor: Int32

    /// Creates the file with mode 0600 if it is missing, and locks it without waiting.
    ///
    /// - Throws: `FileFailure`; ``FileFailure/isBusy`` tells that another process has the lock.
    public init(_ path: String) throws(FileFailure) {
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("opened") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw FileFailure("locked", code: code)
        }
        // Set last: for errors thrown before, `deinit` would close the descriptor a second time.
        self.descriptor = descriptor
    }

    /// The lock of an inherited open file, which this object owns from now on.
    public init(inherited descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
