import Glibc

/// Files and folders. Everything blocks.
package enum FileTree {
    /// How deep a tree is followed, with a descriptor for each level.
    private static let depthMax = 64

    package static func exists(_ path: String) -> Bool { faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }

    /// With everything in it; what cannot be removed stays. A worker may have made it, and may change it meanwhile: no link is followed, and
    /// what is very deep is moved up first.
    package static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        let top = openFolder(Array(path.utf8CString), in: AT_FDCWD)
        guard top >= 0 else { return }
        defer { close(top) }
        var moved = 0
        repeat {
            let before = moved
            for name in Folder.rawNames(in: top) { remove(name, in: top, depth: 1, top: top, moved: &moved) }
            if moved == before { break }
        } while true
        rmdir(path)
    }

    private static func remove(_ name: [CChar], in folder: Int32, depth: Int, top: Int32, moved: inout Int) {
        if unlinkat(folder, name, 0) == 0 { return }
        guard depth < depthMax else {
            if renameat(folder, name, top, ".hearth-moved-\(moved)") == 0 { moved += 1 }
            return
        }
        let descriptor = openFolder(name, in: folder)
        guard descriptor >= 0 else { return }
        for name in Folder.rawNames(in: descriptor) { remove(name, in: descriptor, depth: depth + 1, top: top, moved: &moved) }
        close(descriptor)
        unlinkat(folder, name, AT_REMOVEDIR)
    }

    private static func openFolder(_ name: [CChar], in folder: Int32) -> Int32 {
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
}
