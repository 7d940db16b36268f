import Glibc

/// The lock that the package manager holds while it builds, so that a build by hand and one of ours keep out of each other's way.
///
/// It is a file of the temporary folder that is named by the path of `.build`; the file in `.build` says whose turn it is.
struct PackageLock: ~Copyable {
    private let descriptor: Int32

    /// Nil when somebody builds, or the lock cannot be had: then the package manager, which knows how to wait, has to build.
    init?(directory: String) {
        guard let descriptor = Self.acquire(directory) else { return nil }
        self.descriptor = descriptor
    }

    private static func acquire(_ directory: String) -> Int32? {
        guard let path = path(directory) else { return nil }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        let owner = open("\(directory)/.build/.lock", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard owner >= 0 else { return descriptor }
        let pid = Array("\(getpid())".utf8)
        _ = write(owner, pid, pid.count)
        close(owner)
        return descriptor
    }

    /// Where the package manager has it; nil when the name would be too long, which it shortens in a way of its own.
    static func path(_ directory: String) -> String? {
        let name = "\(directory)/.build.lock".split(separator: "/", omittingEmptySubsequences: false).joined(separator: "_")
        let variables: [String] = ["TMPDIR", "TEMP", "TMP"]
        let folder = variables.compactMap { getenv($0).map { String(cString: $0) } }.first ?? "/tmp"
        return name.utf8.count > 255 ? nil : "\(folder)/\(name)"
    }

    deinit { close(descriptor) }
}
