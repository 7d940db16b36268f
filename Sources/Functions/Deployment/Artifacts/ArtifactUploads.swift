import Files
import FunctionWorker
import Glibc

/// Libraries on their way in, piece by piece and resumable. Blocks: for the thread pool, one call at a time.
package struct ArtifactUploads: Sendable {
    /// `uploads` in the data directory.
    let directory: String
    let store: ArtifactStore

    /// The largest piece.
    package static let pieceBytesMax = 8 << 20
    /// How many may lie here; more are refused.
    static let countMax = 100
    /// What nobody has touched for so long is removed.
    static let ageSecondsMax = 24 * 3600

    /// How much of a library is here.
    package struct Status: Sendable, Equatable {
        package enum State: String, Sendable { case absent, partial, complete }

        package var state: State
        package var receivedBytes: Int
    }

    package enum Failure: Error {
        /// The piece does not follow what is here.
        case wrongOffset(receivedBytes: Int)
        /// What was asked cannot be.
        case invalid(String)
        /// The disk does not take it.
        case storage(String)
    }

    func partialPath(of hash: String) -> String { "\(directory)/\(hash).part" }
    func completePath(of hash: String) -> String { "\(directory)/\(hash).so" }

    /// A name of an artifact: 64 hexadecimal digits in lower case.
    package static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (97...102).contains($0) }
    }

    package func status(of hash: String) -> Status {
        for path in [store.path(of: hash), completePath(of: hash)] {
            if let size = Self.size(of: path) { return Status(state: .complete, receivedBytes: size) }
        }
        guard let size = Self.size(of: partialPath(of: hash)) else { return Status(state: .absent, receivedBytes: 0) }
        return Status(state: .partial, receivedBytes: size)
    }

    private static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Takes one piece.
    package func append(_ piece: [UInt8], to hash: String, at offset: Int) throws(Failure) -> Status {
        let status = status(of: hash)
        if status.state == .complete { return status }
        guard offset == status.receivedBytes else { throw .wrongOffset(receivedBytes: status.receivedBytes) }
        guard offset + piece.count <= LibraryFile.sizeMax else { throw .invalid("a library has at most \(LibraryFile.sizeMax) bytes") }
        if status.state == .absent, Folder.names(in: directory).count >= Self.countMax {
            throw .invalid("\(Self.countMax) uploads are already unfinished or not deployed; deploy them, or wait a day")
        }
        let descriptor = open(partialPath(of: hash), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .storage("the upload cannot be kept: \(ArtifactStore.reason())") }
        defer { close(descriptor) }
        guard lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset), piece.withUnsafeBytes({ DurableFile.writeAll($0, to: descriptor) })
        else {
            let reason = ArtifactStore.reason()
            // A piece is here as a whole or not at all.
            ftruncate(descriptor, off_t(offset))
            throw .storage("the upload cannot be kept: \(reason)")
        }
        return Status(state: .partial, receivedBytes: offset + piece.count)
    }

    /// The last piece was sent: checks the whole.
    package func complete(_ hash: String, sizeBytes: Int) throws(Failure) -> Status {
        let status = status(of: hash)
        if status.state == .complete { return status }
        guard status.state == .partial, status.receivedBytes == sizeBytes else {
            throw .wrongOffset(receivedBytes: status.receivedBytes)
        }
        let path = partialPath(of: hash)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .storage("the upload cannot be read: \(ArtifactStore.reason())") }
        defer { close(descriptor) }
        let found: String
        do throws(PluginRefusal) { found = try ArtifactStore.hash(of: descriptor, hash) } catch { throw .storage(error.description) }
        guard found == hash else {
            unlink(path)
            throw .invalid("the upload has the SHA-256 \(found); it was dropped, send it again")
        }
        guard fchmod(descriptor, 0o500) == 0, fsync(descriptor) == 0, rename(path, completePath(of: hash)) == 0 else {
            throw .storage("the upload cannot be kept: \(ArtifactStore.reason())")
        }
        Folder.sync(Folder.parent(of: path))
        return self.status(of: hash)
    }

    /// Removes what was deployed, and what nobody has come back for.
    func removeOld(deployed: Set<String>) {
        for name in Folder.names(in: directory) {
            var status = stat()
            let path = "\(directory)/\(name)"
            guard stat(path, &status) == 0 else { continue }
            let hash = name.split(separator: ".", maxSplits: 1).first.map(String.init) ?? name
            if deployed.contains(hash) || time(nil) - status.st_mtim.tv_sec > Self.ageSecondsMax { unlink(path) }
        }
    }
}
