import Glibc

/// Folders of the file system. Everything that asks it blocks.
public enum Folder {
    /// The folder that a path is in; `.` where it names none.
    public static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names in a folder, without `.` and `..`, in no order; none where it cannot be read. A name that is not UTF-8 is repaired, and so
    /// names no file: see ``rawNames(in:limit:)``.
    public static func names(in folder: String) -> [String] {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return rawNames(in: descriptor).map { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }

    /// The names in an open folder, without `.` and `..`, in no order, each with the zero byte that ends it: any bytes may be one.
    ///
    /// - Parameter limit: how many at most.
    public static func rawNames(in folder: Int32, limit: Int = .max) -> [[CChar]] {
        // The stream has a place in the folder of its own.
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let directory = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(directory) }
        var names: [[CChar]] = []
        while names.count < limit, let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0] }
            if name != [46, 0], name != [46, 46, 0] { names.append(name) }
        }
        return names
    }

    /// Makes what was renamed or linked in a folder outlive the machine. A folder that cannot be synchronized is left to the kernel,
    /// which writes it within seconds.
    public static func sync(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

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
