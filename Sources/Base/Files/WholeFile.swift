import Glibc

/// Reads whole files. All functions block.
public enum WholeFile {
    /// The contents of a file.
    ///
    /// - Throws: `FileFailure` if it cannot be read or has more than `sizeBytesMax` bytes.
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

    /// The contents of a file; nil if it does not exist.
    ///
    /// - Throws: `FileFailure` if it cannot be read or has more than `sizeBytesMax` bytes.
    public static func readIfAny(_ path: String, sizeBytesMax: Int) throws(FileFailure) -> [UInt8]? {
        do throws(FileFailure) {
            return try read(path, sizeBytesMax: sizeBytesMax)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// The contents of a file as text. Invalid UTF-8 is replaced.
    ///
    /// - Throws: `FileFailure` if it cannot be read or has more than `sizeBytesMax` bytes.
    public static func readText(_ path: String, sizeBytesMax: Int) throws(FileFailure) -> String {
        String(decoding: try read(path, sizeBytesMax: sizeBytesMax), as: UTF8.self)
    }
}

/// The failure of a file operation. The description follows the name of the file in a sentence.
public struct FileFailure: Error, Sendable, CustomStringConvertible {
    /// The error number (`errno`).
    public let code: Int32
    /// The system's text for the error.
    public let reason: String
    /// The operation and the reason: `cannot be read: Permission denied`.
    public let description: String

    /// Whether another process has the lock of the file.
    public var isBusy: Bool { code == EWOULDBLOCK }

    /// A failure with the current `errno`.
    ///
    /// - Parameter doing: the failed operation, as in "cannot be written".
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

    /// Whether the file does not exist.
    public var isMissing: Bool { code == ENOENT || code == ENOTDIR }
}
