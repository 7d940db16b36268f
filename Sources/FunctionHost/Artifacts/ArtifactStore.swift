import Crypto
import FunctionWorker
import Glibc

/// Keeps the host's own copies of libraries, so that a rebuilt or deleted file changes nothing that runs.
struct ArtifactStore: Sendable {
    /// `artifacts` in the data directory.
    let directory: String

    /// A library of more bytes is refused.
    static let sizeMax = 1 << 30

    /// Copies a library in, unless it is there already. Blocks: for the thread pool.
    ///
    /// - Throws: `PluginRefusal` when it cannot be read or the copy cannot be written.
    func admit(name: String, file: String) throws(PluginRefusal) -> Artifact {
        let source = open(file, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw PluginRefusal("\(file): cannot be read: \(Self.reason())") }
        defer { close(source) }
        try Self.checkKind(source, file)
        let temporary = "\(directory)/incoming-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let copy = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o500)
        guard copy >= 0 else { throw PluginRefusal("\(file): cannot be copied to \(directory): \(Self.reason())") }
        defer {
            close(copy)
            unlink(temporary)
        }
        let hash = try Self.copy(from: source, to: copy, file)
        let path = "\(directory)/\(hash).so"
        guard rename(temporary, path) == 0 else { throw PluginRefusal("\(file): cannot be copied to \(path): \(Self.reason())") }
        return Artifact(name: name, hash: hash, path: path, displayName: file)
    }

    /// The same, as a value that can cross threads.
    func result(name: String, file: String) -> Result<Artifact, PluginRefusal> {
        do throws(PluginRefusal) {
            return .success(try admit(name: name, file: file))
        } catch {
            return .failure(error)
        }
    }

    private static func checkKind(_ descriptor: Int32, _ file: String) throws(PluginRefusal) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PluginRefusal("\(file): is not a regular file")
        }
        guard status.st_size <= sizeMax else { throw PluginRefusal("\(file): has \(status.st_size) bytes, more than \(sizeMax)") }
    }

    private static func copy(from source: Int32, to copy: Int32, _ file: String) throws(PluginRefusal) -> String {
        var hasher = SHA256()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { room.deallocate() }
        while true {
            let count = read(source, room.baseAddress, room.count)
            guard count >= 0 else { throw PluginRefusal("\(file): cannot be read: \(reason())") }
            if count == 0 { break }
            let piece = UnsafeRawBufferPointer(rebasing: room[..<count])
            hasher.update(bufferPointer: piece)
            guard writeAll(piece, to: copy) else { throw PluginRefusal("\(file): cannot be copied: \(reason())") }
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hasher.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            if count < 0 { return false }
            written += count
        }
        return true
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
