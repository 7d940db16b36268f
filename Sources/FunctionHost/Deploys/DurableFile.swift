import Glibc

/// Files that are either as they were or as they were to become, whenever the machine stops.
enum DurableFile {
    /// Why a file was not read or written; it is described in words that follow its name.
    struct Failure: Error, CustomStringConvertible {
        private let doing: String
        /// What the system said.
        let reason: String

        init(_ doing: String) {
            self.doing = doing
            reason = errno == ENOSPC || errno == EDQUOT ? "the disk is full" : String(cString: strerror(errno))
        }

        var description: String { "cannot be \(doing): \(reason)" }
    }

    /// Puts these contents in the place of whatever is there. Blocks: for the thread pool.
    ///
    /// - Throws: `Failure`; then the file is as it was.
    static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(Failure) {
        let fresh = freshPath(of: path)
        try writeWhole(fresh, bytes, mode: mode)
        guard rename(fresh, path) == 0 else { throw removing(fresh) }
        syncFolder(of: path)
    }

    /// Makes a file with these contents where there is none. Blocks.
    ///
    /// - Returns: whether it was made; one that is there stays as it is.
    /// - Throws: `Failure`; then no file was made.
    static func create(_ path: String, with bytes: [UInt8], mode: mode_t) throws(Failure) -> Bool {
        let fresh = freshPath(of: path)
        // What an interrupted writer has left may have another mode.
        unlink(fresh)
        try writeWhole(fresh, bytes, mode: mode)
        // Not every file system has links.
        let isMade = link(fresh, path) == 0 || errno == EPERM && rename(fresh, path) == 0
        guard isMade || errno == EEXIST else { throw removing(fresh) }
        unlink(fresh)
        syncFolder(of: path)
        return isMade
    }

    private static func writeWhole(_ path: String, _ bytes: [UInt8], mode: mode_t) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure("written") }
        guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }), fsync(descriptor) == 0 else {
            let failure = removing(path)
            close(descriptor)
            throw failure
        }
        guard close(descriptor) == 0 else { throw removing(path) }
    }

    /// Where new contents are written before they take their place.
    static func freshPath(of path: String) -> String { "\(path).new" }

    private static func removing(_ path: String) -> Failure {
        let failure = Failure("written")
        unlink(path)
        return failure
    }

    /// Makes what was renamed or linked in the file's folder outlive the machine.
    static func syncFolder(of path: String) { FileTree.sync(FileTree.folder(of: path)) }

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

    /// The whole of a file that must be there.
    ///
    /// - Throws: `Failure` when it cannot be read, or has more than `sizeMax` bytes.
    static func readExisting(_ path: String, sizeMax: Int) throws(Failure) -> [UInt8] {
        if let bytes = try read(path, sizeMax: sizeMax) { return bytes }
        errno = ENOENT
        throw Failure("read")
    }
}
