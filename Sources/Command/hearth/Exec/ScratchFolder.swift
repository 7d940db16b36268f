import CLinux
import Files
import Glibc

/// A new folder for the time of one `hearth exec`, removed with all that is in it.
///
/// Both processes of an exec hold a lock on it. One that nobody holds was left by an exec whose processes were all killed at once;
/// the next exec removes it.
struct ScratchFolder {
    let path: String

    private static let prefix = "hearth-exec-"
    /// Between making a folder and locking it, it looks abandoned.
    private static let ageSecondsMin = 60

    init(existing path: String) {
        self.path = path
        _ = hold()
    }

    /// Makes one where temporary files belong; nil, with `errno`, where that is not possible.
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

    /// Removes it; what cannot be removed stays.
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
