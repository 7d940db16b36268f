import Crypto
import Files
import Glibc
import HearthBytes
import HearthJSON
import Logs
import SQLite
import Store

/// A backup of a data directory, produced as the bytes of an archive, piece by piece, while the host runs.
///
/// The archive has a consistent snapshot of each database, taken when it is its turn. The record of deployed functions and the libraries that it
/// names belong to the same deployment. Blocks. Used by one thread at a time.
package final class BackupArchive {
    private let data: String
    private let project: String
    private let time: Int64
    private var members: [BackupContents.Member]
    private var open: [String: Int32] = [:]
    private var listed: [JSONValue] = []
    private var state = State.start
    /// The approximate size of the archive, in bytes.
    package let estimatedBytes: Int

    private enum State {
        case start
        case next
        case copying(BackupContents.Member, OnlineCopy, String)
        case sending(BackupContents.Member, Int32, left: Int, SHA256)
        case end
    }

    private static let pieceBytes = 256 * 1024
    private static let pagesAtATime = 256

    /// - Parameters:
    ///   - data: the data directory.
    ///   - time: the date of the backup, in seconds since 1970.
    package init(data: String, project: String, time: Int64) throws(BackupFailure) {
        self.data = data
        self.project = project
        self.time = time
        members = []
        // The lock exists as long as a host runs.
        guard FileTree.exists("\(data)/lock") else { throw BackupFailure("the data directory \(data) has lost its files") }
        estimatedBytes = BackupContents.members(of: data).reduce(4096) { $0 + $1.sizeBytes + 1024 }
        try openDocuments()
    }

    deinit {
        for descriptor in open.values { close(descriptor) }
        if case .sending(_, let descriptor, _, _) = state { close(descriptor) }
        if case .copying(_, _, let path) = state { unlink(path) }
    }

    /// Opens the files that deployments replace and delete, all of them from the same deployment.
    private func openDocuments() throws(BackupFailure) {
        for _ in 0..<10 {
            for descriptor in open.values { close(descriptor) }
            open = [:]
            let before = Self.identity("\(data)/deployed.json")
            members = BackupContents.members(of: data)
            for member in members where member.room.kind != .database {
                open[member.name] = Glibc.open(member.path, O_RDONLY | O_CLOEXEC)
            }
            if Self.identity("\(data)/deployed.json") == before, open.values.allSatisfy({ $0 >= 0 }) { return }
        }
        throw BackupFailure("deployments changed while the backup was made; make it when no deployment is running")
    }

    private static func identity(_ path: String) -> [Int] {
        var status = stat()
        return stat(path, &status) == 0 ? [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec] : []
    }

    /// The next bytes; empty if more will follow later, nil at the end.
    package func next() throws(BackupFailure) -> [UInt8]? {
        switch state {
        case .start:
            state = .next
            return document(
                BackupContents.head,
                [
                    "format": .int(Int64(BackupContents.format)), "project": .string(project),
                    "time": .string(WallClock(unixMilliseconds: time * 1000).rfc3339),
                ])
        case .next: return try begin()
        case .copying(let member, let copying, let path): return try copy(member, copying, path)
        case .sending(let member, let descriptor, let left, let hash): return try send(member, descriptor, left, hash)
        case .end: return nil
        }
    }

    private func document(_ name: String, _ value: JSONValue) -> [UInt8] {
        let bytes = value.serialized()
        return Tar.header(name: name, sizeBytes: bytes.count, time: time) + bytes + Tar.padding(after: bytes.count)
    }

    private func begin() throws(BackupFailure) -> [UInt8] {
        guard !members.isEmpty else {
            state = .end
            return document(BackupContents.manifest, ["format": .int(Int64(BackupContents.format)), "members": .array(listed)]) + Tar.end
        }
        let member = members.removeFirst()
        if let descriptor = open.removeValue(forKey: member.name) { return try startSending(member, descriptor) }
        let path = "\(data)/\(Leftovers.copyPrefix)\(getpid())-\(UInt64.random(in: .min ... .max)).sqlite"
        do throws(SQLiteError) {
            state = .copying(member, try OnlineCopy(of: member.path, to: path), path)
        } catch {
            unlink(path)
            throw BackupFailure("\(member.name) cannot be copied: \(error)")
        }
        return []
    }

    private func copy(_ member: BackupContents.Member, _ copying: OnlineCopy, _ path: String) throws(BackupFailure) -> [UInt8] {
        do throws(SQLiteError) {
            guard try copying.step(pages: Self.pagesAtATime) else { return [] }
        } catch {
            throw BackupFailure("\(member.name) cannot be copied: \(error)")
        }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("\(member.name) cannot be copied") }
        // The copy is read without a name, so that it disappears in any case.
        unlink(path)
        return try startSending(member, descriptor)
    }

    private func startSending(_ member: BackupContents.Member, _ descriptor: Int32) throws(BackupFailure) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("\(member.name) cannot be read") }
        state = .sending(member, descriptor, left: Int(status.st_size), SHA256())
        return Tar.header(name: member.name, sizeBytes: Int(status.st_size), time: time)
    }

    private func send(_ member: BackupContents.Member, _ descriptor: Int32, _ left: Int, _ hash: SHA256) throws(BackupFailure) -> [UInt8] {
        var hash = hash
        let sizeBytes = Int(lseek(descriptor, 0, SEEK_CUR)) + left
        if left == 0 {
            close(descriptor)
            state = .next
            listed.append([
                "name": .string(member.name), "sizeBytes": .int(Int64(sizeBytes)), "sha256": .string(Hexadecimal.text(hash.finalize())),
            ])
            return Tar.padding(after: sizeBytes)
        }
        let wanted = min(left, Self.pieceBytes)
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { room, count in
            let got = read(descriptor, room.baseAddress, wanted)
            failure = got < 0 ? errno : 0
            count = max(0, got)
        }
        guard !bytes.isEmpty else {
            throw BackupFailure("\(member.name) cannot be read: \(failure == 0 ? "it became shorter" : String(cString: strerror(failure)))")
        }
        hash.update(data: bytes)
        state = .sending(member, descriptor, left: left - bytes.count, hash)
        return bytes
    }
}
