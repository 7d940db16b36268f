import Files
import Glibc

/// Files and folders. Everything blocks.
enum FileTree {
    static func exists(_ path: String) -> Bool { faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }

    /// With everything in it; what cannot be removed stays.
    static func remove(_ path: String) {
        guard unlink(path) != 0, errno == EISDIR else { return }
        for name in Folder.names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
