import CLinux
import Files
import Glibc

/// A temporary folder for one `hearth exec`, removed at its end.
///
/// Both processes of an exec hold a lock on it. A folder without a lock belongs to an exec whose processes were all killed; the next exec
/// removes it.
struct ScratchFolder {
    let path: String

    private static let prefix = "hearth-exec-"
    /// The least age of an abandoned folder: a new one is not locked yet.
    private static let ageSecondsMin = 60

    init(existing path: String) {
        self.path = path
        _ = hold()
    }

    /// Creates a folder for temporary files; nil, with `errno`, on failure.
    init?() {
        let parent = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        Self.removeAbandoned(in: parent)
        var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard hold() else { return nil }
    }

    /// Locks it until this process ends.
    private func hold() -> Bool {
        let descriptor = open("\(path)/lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        return descriptor >= 0 && flock(descriptor, LOCK_SH) == 0
    }

    /// Removes it as far as possible.
    func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        for entry in Folder.names(in: path) {
            let child = "\(path)/\(entry)"
            if unlink(child) != 0, errno == EISDIR { remove(child) }
        }
        rmdir(path)
    }

    private static func removeAbandoned(in parent: String) {
        for name in Folder.names(in: parent) where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            guard linux_is_own_folder(path, ageSecondsMin) else { continue }
            let lock = open("\(path)/lock", O_RDONLY | O_CLOEXEC)
            guard lock >= 0 else { continue }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(path) }
            close(lock)
        }
    }
}
