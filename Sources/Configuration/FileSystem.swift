import Glibc

/// The few things that reading a configuration asks of the file system.
enum FileSystem {
    /// Why a file was not read, in words that follow its name.
    struct Failure: Error {
        var isMissing: Bool
        var message: String
    }

    /// The whole of a file, refused when it is larger than `sizeBytesMax`.
    static func read(_ path: String, sizeBytesMax: Int = LocatedParser.sizeBytesMax) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= sizeBytesMax else {
                throw Failure(isMissing: false, message: "has more than \(sizeBytesMax) bytes")
            }
        }
    }

    private static func failure() -> Failure {
        let code = errno
        return Failure(isMissing: code == ENOENT || code == ENOTDIR, message: "cannot be read: \(String(cString: strerror(code)))")
    }

    /// Nil when nothing is there.
    static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }

    static func isRegularFile(_ path: String) -> Bool {
        mode(path).map { $0 & S_IFMT == S_IFREG } ?? false
    }

    static func isDirectory(_ path: String) -> Bool {
        mode(path).map { $0 & S_IFMT == S_IFDIR } ?? false
    }

    static func isReadable(_ path: String) -> Bool {
        access(path, R_OK) == 0
    }

    /// The folder part of a path, `.` where it has none.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func join(_ directory: String, _ path: String) -> String {
        if path.hasPrefix("/") || directory == "." && path != "." { return path }
        if path == "." { return directory }
        return directory.hasSuffix("/") ? directory + path : "\(directory)/\(path)"
    }
}
