import AdminProtocol
import Files
import FunctionWorker
import Glibc

/// Uploads of libraries, in pieces and resumable. Blocks: for the thread pool, one call at a time.
package struct ArtifactUploads: Sendable {
    /// `uploads` in the data directory.
    let directory: String
    let store: ArtifactStore

    /// The most uploads that are unfinished or not deployed; more are refused.
    static let countMax = 100
    /// The age at which an unused upload is removed.
    static let ageSecondsMax = 24 * 3600

    package enum Failure: Error {
        /// The offset of the piece is not the number of received bytes.
        case wrongOffset(receivedBytes: Int)
        /// The request makes no sense.
        case invalid(String)
        /// The disk is full or fails.
        case storage(String)
    }

    func partialPath(of hash: String) -> String { "\(directory)/\(hash).part" }
    func completePath(of hash: String) -> String { "\(directory)/\(hash).so" }

    package func status(of hash: String) -> ArtifactAnswer {
        for path in [store.path(of: hash), completePath(of: hash)] {
            if let size = Self.size(of: path) { return ArtifactAnswer(state: .complete, receivedBytes: size) }
        }
        guard let size = Self.size(of: partialPath(of: hash)) else { return ArtifactAnswer(state: .absent, receivedBytes: 0) }
        return ArtifactAnswer(state: .partial, receivedBytes: size)
    }

    private static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Appends a piece.
    package func append(_ piece: [UInt8], to hash: String, at offset: Int) throws(Failure) -> ArtifactAnswer {
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
            // A piece is stored completely or not at all.
            ftruncate(descriptor, off_t(offset))
            throw .storage("the upload cannot be kept: \(reason)")
        }
        return ArtifactAnswer(state: .partial, receivedBytes: offset + piece.count)
    }

    /// Checks the upload after its last piece.
    package func complete(_ hash: String, sizeBytes: Int) throws(Failure) -> ArtifactAnswer {
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

    /// Removes deployed libraries, and uploads that were not continued.
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
