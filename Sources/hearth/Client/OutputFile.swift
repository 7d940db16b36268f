import CommandClient
import Files
import Glibc

/// Where a command's result goes: a file that is there whole or not at all, or standard output.
final class OutputFile {
    private let name: String?
    private let temporaryName: String
    private var descriptor: Int32
    /// Whether the file has no name yet, so that nothing is left of it however this program ends.
    private let isNameless: Bool
    private var lastByte: UInt8?
    /// How many bytes were written.
    private(set) var count = 0

    /// - Parameters:
    ///   - name: of the file, nil for standard output.
    ///   - isPrivate: whether nobody but its owner may read it.
    init(_ name: String?, isPrivate: Bool = false) throws(ClientFailure) {
        self.name = name
        guard let name else {
            temporaryName = ""
            descriptor = STDOUT_FILENO
            isNameless = true
            return
        }
        if FileStatus(name)?.kind == .folder {
            throw ClientFailure(.invalidInput, "\(name) is a folder; name a file for the output")
        }
        temporaryName = "\(name).\(getpid()).part"
        let folder = Folder.parent(of: name)
        let mode: mode_t = isPrivate ? 0o600 : 0o666
        let nameless = open(folder, Self.namelessFile | O_WRONLY | O_CLOEXEC, mode)
        isNameless = nameless >= 0
        // Not every file system has nameless files.
        descriptor = isNameless ? nameless : open(temporaryName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw ClientFailure(.invalidInput, "\(name) cannot be written: \(String(cString: strerror(errno)).lowercased())")
        }
    }

    deinit {
        guard name != nil, descriptor >= 0 else { return }
        close(descriptor)
        if !isNameless { unlink(temporaryName) }
    }

    /// `O_TMPFILE`, which is written in a way that Swift does not take over.
    private static let namelessFile = O_DIRECTORY | 0o20000000

    /// Adds to it.
    func write(_ bytes: Span<UInt8>) throws(ClientFailure) {
        guard bytes.count > 0 else { return }
        lastByte = bytes[bytes.count - 1]
        count += bytes.count
        let isWritten = bytes.withUnsafeBufferPointer { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while rest.count > 0 {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            return true
        }
        if !isWritten { throw failure() }
    }

    /// Adds to it.
    func write(_ text: String) throws(ClientFailure) { try write(Array(text.utf8).span) }

    /// Ends it with a newline where it has none, unless it is no text, and gives the file its name.
    func finish(endsWithNewline: Bool = true) throws(ClientFailure) {
        if endsWithNewline, lastByte != UInt8(ascii: "\n") { try write("\n") }
        guard let name else { return }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure() }
        // A name can only be given that is not taken; taking a name over needs another one first.
        if isNameless { linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, temporaryName, AT_SYMLINK_FOLLOW) }
        guard rename(temporaryName, name) == 0 else { throw failure() }
        close(descriptor)
        descriptor = -1
    }

    private func failure() -> ClientFailure {
        let reason = String(cString: strerror(errno)).lowercased()
        return ClientFailure(.invalidInput, "\(name ?? "standard output") cannot be written: \(reason)")
    }
}
