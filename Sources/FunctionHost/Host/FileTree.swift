import Files
import Glibc

/// Files and folders. Everything blocks.
enum FileTree {
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// With everything in it; what cannot be removed stays.
    static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        for name in Folder.names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
