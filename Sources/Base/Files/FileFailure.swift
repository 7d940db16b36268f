import Glibc

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
