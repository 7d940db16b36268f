import Glibc

/// Files that are either as they were or as they were to become, whenever the machine stops.
enum DurableFile {
    /// Why a file was not written, in words that follow its name.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ doing: String) {
            let reason = errno == ENOSPC || errno == EDQUOT ? "the disk is full" : String(cString: strerror(errno))
            description = "cannot be \(doing): \(reason)"
        }
    }

    /// Puts these contents in the place of whatever is there. Blocks: for the thread pool.
    ///
    /// - Throws: `Failure`; then the file is as it was.
    static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(Failure) {
        let fresh = freshPath(of: path)
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure("written") }
        var isOpen = true
        defer { if isOpen { close(descriptor) } }
        guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }), fsync(descriptor) == 0 else { throw removing(fresh) }
        isOpen = false
        guard close(descriptor) == 0, rename(fresh, path) == 0 else { throw removing(fresh) }
        syncFolder(of: path)
    }

    /// Where new contents are written before they take their place.
    static func freshPath(of path: String) -> String { "\(path).new" }

    private static func removing(_ path: String) -> Failure {
        let failure = Failure("written")
        unlink(path)
        return failure
    }

    /// Makes what was renamed or linked in the file's folder outlive the machine. A folder that cannot be synchronized is left
    /// to the kernel, which writes it within seconds.
    static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return false }
            written += count
        }
        return true
    }

    /// The whole of a file; nil where there is none.
    ///
    /// - Throws: `Failure` when it cannot be read, or has more than `sizeMax` bytes.
    static func read(_ path: String, sizeMax: Int) throws(Failure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure("read")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("read") }
            if count == 0 { return bytes }
            bytes += room[..<count]
            if bytes.count > sizeMax {
                errno = EFBIG
                throw Failure("read")
            }
        }
    }

    /// The names in a folder, without `.` and `..`; none where it cannot be read.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a folder with everything in it. What cannot be removed stays.
    static func removeFolder(_ path: String) {
        for name in names(in: path) {
            let inner = "\(path)/\(name)"
            var status = stat()
            if lstat(inner, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { removeFolder(inner) } else { unlink(inner) }
        }
        rmdir(path)
    }
}
