public import HearthBytes
import COpenSSL
import Glibc

/// A library to deploy, identified by its contents.
public final class ArtifactFile {
    /// The path, as given.
    public let path: String
    /// SHA-256 of its bytes, in hexadecimal.
    public let hash: String
    /// Its size.
    public let sizeBytes: Int
    private let descriptor: Int32

    /// Opens and reads the file. Replacing the file later does not affect this object.
    ///
    /// - Throws: `ClientFailure` if it cannot be read or is no regular file.
    public init(_ path: String) throws(ClientFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
        guard FileStatus(descriptor: descriptor)?.kind == .file else {
            close(descriptor)
            throw ClientFailure(.invalidInput, "\(path) is not a file; name a shared library")
        }
        do throws(ClientFailure) {
            (hash, sizeBytes) = try Self.digest(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Its name without its folder.
    public var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Whether its contents are unchanged.
    public func isUnchanged() throws(ClientFailure) -> Bool { try Self.digest(descriptor, path).hash == hash }

    /// Appends at most `count` bytes from `offset`; fewer at the end of the file.
    public func read(at offset: Int, count: Int, into buffer: inout ByteBuffer) throws(ClientFailure) {
        var failed = false
        buffer.appendUninitialized(minimum: count) { room in
            let read = pread(descriptor, room.baseAddress, count, off_t(offset))
            failed = read < 0
            return max(0, read)
        }
        if failed { throw Self.failure(path) }
    }

    private static func digest(_ descriptor: Int32, _ path: String) throws(ClientFailure) -> (hash: String, count: Int) {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            throw ClientFailure(.invalidInput, "OpenSSL has no memory for a digest")
        }
        defer { EVP_MD_CTX_free(context) }
        var room = [UInt8](repeating: 0, count: 1 << 20)
        var total = 0
        while true {
            let count = pread(descriptor, &room, room.count, off_t(total))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            if count == 0 { break }
            EVP_DigestUpdate(context, room, count)
            total += count
        }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        EVP_DigestFinal_ex(context, &digest, &length)
        return (Hexadecimal.text(digest.prefix(Int(length))), total)
    }

    private static func failure(_ path: String) -> ClientFailure {
        ClientFailure(.invalidInput, "\(path) cannot be read: \(String(cString: strerror(errno)).lowercased())")
    }
}
