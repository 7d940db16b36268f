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

/// Why a file was not read or written; it is described in words that follow its name.
public struct FileFailure: Error, Sendable, CustomStringConvertible {
    /// As the system numbers failures.
    public let code: Int32
    /// What the system said.
    public let reason: String
    /// What was not done, and why: `cannot be read: Permission denied`.
    public let description: String

    /// Whether somebody else has the lock of the file.
    public var isBusy: Bool { code == EWOULDBLOCK }

    /// What the system has just said.
    ///
    /// - Parameter doing: what cannot be done with the file, as in "cannot be written".
    public init(_ doing: String, code: Int32 = errno) {
        self.code = code
        reason = code == ENOSPC || code == EDQUOT ? "the disk is full" : String(cString: strerror(code))
        description = "cannot be \(doing): \(reason)"
    }

    init(sizeBytesMax: Int) {
        code = EFBIG
        reason = "more than \(sizeBytesMax) bytes"
        description = "has \(reason)"
    }

    /// Whether there is no such file.
    public var isMissing: Bool { code == ENOENT || code == ENOTDIR }
}
