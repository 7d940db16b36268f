import CommandClient
import Files
import Glibc

/// The destination of a command's result: standard output, or a file that appears complete or not at all.
///
/// Other users may write in the file's folder, such as `/tmp`. So the bytes go into a new file, an existing file is replaced only if it
/// belongs to the same user, and at the end the name must lead to the written file.
final class OutputFile {
    private let name: String?
    /// The temporary name; empty for standard output, and for a file without a name yet.
    private var temporaryName = ""
    private var descriptor: Int32
    /// Whether the file has no name yet, so that nothing remains if this program ends.
    private let isNameless: Bool
    private var lastByte: UInt8?
    /// Bytes written.
    private(set) var count = 0

    /// - Parameters:
    ///   - name: the file; nil for standard output.
    ///   - isPrivate: whether only its owner may read it.
    init(_ name: String?, isPrivate: Bool = false) throws(ClientFailure) {
        self.name = name
        guard let name else {
            descriptor = STDOUT_FILENO
            isNameless = true
            return
        }
        try Self.check(name)
        let mode: mode_t = isPrivate ? 0o600 : 0o666
        let nameless = open(Folder.parent(of: name), Self.namelessFile | O_WRONLY | O_CLOEXEC, mode)
        isNameless = nameless >= 0
        descriptor = nameless
        if !isNameless {
            // Some file systems lack nameless files (O_TMPFILE).
            let temporary = Self.temporaryName(of: name)
            descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            if descriptor >= 0 { temporaryName = temporary }
        }
        guard descriptor >= 0 else {
            throw ClientFailure(.invalidInput, "\(name) cannot be written: \(String(cString: strerror(errno)).lowercased())")
        }
    }

    /// Refuses to replace links, devices and other users' files.
    private static func check(_ name: String) throws(ClientFailure) {
        guard let status = FileStatus(name, followsLinks: false) else { return }
        if FileStatus(name)?.kind == .folder { throw ClientFailure(.invalidInput, "\(name) is a folder; name a file for the output") }
        guard status.kind == .file else {
            throw ClientFailure(.invalidInput, "\(name) is a link or a device and no regular file; name another file for the output")
        }
        guard status.owner == geteuid() else {
            throw ClientFailure(.invalidInput, "\(name) is another user's file; remove it, or name another file for the output")
        }
    }

    /// An unpredictable name beside the file.
    private static func temporaryName(of name: String) -> String {
        var generator = SystemRandomNumberGenerator()
        return "\(name).\(String(UInt64.random(in: .min ... .max, using: &generator), radix: 36)).part"
    }

    deinit {
        guard name != nil, descriptor >= 0 else { return }
        close(descriptor)
        if !temporaryName.isEmpty { unlink(temporaryName) }
    }

    /// `O_TMPFILE`, a macro that Swift does not import.
    private static let namelessFile = O_DIRECTORY | 0o20000000

    /// Appends bytes.
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

    /// Appends text.
    func write(_ text: String) throws(ClientFailure) { try write(Array(text.utf8).span) }

    /// Adds a newline if the text lacks one, and gives the file its name.
    func finish(endsWithNewline: Bool = true) throws(ClientFailure) {
        if endsWithNewline, lastByte != UInt8(ascii: "\n") { try write("\n") }
        guard let name else { return }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure() }
        if isNameless { try giveTemporaryName(besides: name) }
        guard rename(temporaryName, name) == 0 else { throw failure() }
        temporaryName = ""
        guard let written = FileStatus(descriptor: descriptor), let found = FileStatus(name, followsLinks: false), found.isSameFile(as: written)
        else {
            throw ClientFailure(.invalidInput, "\(name) was replaced by another user of the folder; write to a folder that only you can write to")
        }
        Folder.sync(Folder.parent(of: name))
        close(descriptor)
        descriptor = -1
    }

    /// Links the file under a temporary name: linkat cannot replace an existing file, so a rename follows.
    private func giveTemporaryName(besides name: String) throws(ClientFailure) {
        let temporary = Self.temporaryName(of: name)
        guard linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0 else { throw failure() }
        temporaryName = temporary
    }

    private func failure() -> ClientFailure {
        let reason = String(cString: strerror(errno)).lowercased()
        return ClientFailure(.invalidInput, "\(name ?? "standard output") cannot be written: \(reason)")
    }
}
