import Glibc

/// Files that are read at once. Everything blocks.
public enum WholeFile {
    /// All of a file.
    ///
    /// - Throws: `FileFailure` when it cannot be read, or has more than `sizeBytesMax` bytes.
    public static func read(_ path: String, sizeBytesMax: Int) throws(FileFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure("read") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: min(sizeBytesMax + 1, 64 * 1024))
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure("read") }
            if count == 0 { return bytes }
            bytes += room[..<count]
            guard bytes.count <= sizeBytesMax else { throw FileFailure(sizeBytesMax: sizeBytesMax) }
        }
    }

    /// All of a file; nil where there is none.
    ///
    /// - Throws: `FileFailure` when it cannot be read, or has more than `sizeBytesMax` bytes.
    public static func readIfAny(_ path: String, sizeBytesMax: Int) throws(FileFailure) -> [UInt8]? {
        do throws(FileFailure) {
            return try read(path, sizeBytesMax: sizeBytesMax)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// All of a file as text; what is no UTF-8 is replaced.
    ///
    /// - Throws: `FileFailure` when it cannot be read, or has more than `sizeBytesMax` bytes.
    public static func readText(_ path: String, sizeBytesMax: Int) throws(FileFailure) -> String {
        String(decoding: try read(path, sizeBytesMax: sizeBytesMax), as: UTF8.self)
    }
}
