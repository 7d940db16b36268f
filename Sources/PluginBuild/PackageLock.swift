import Glibc

/// The lock that the package manager takes on `.build`, so that a build by hand and one of ours wait for each other.
struct PackageLock: ~Copyable {
    private let descriptor: Int32

    /// Nil when somebody builds.
    init?(directory: String) {
        descriptor = open("\(directory)/.build/.lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        // Whoever waits says for whom.
        let pid = Array("\(getpid())".utf8)
        ftruncate(descriptor, 0)
        _ = write(descriptor, pid, pid.count)
    }

    deinit { close(descriptor) }
}
