import Crypto
import Deployment
import Files
import Glibc
import HearthBytes
import HearthJSON
import SQLite

/// A restore in progress: the members are written beside the data, and checked before anything is replaced.
///
/// Blocks. Used by one thread at a time.
// Unchecked: its owner gives it to one piece of work on the thread pool after the other.
public final class RestoreStage: @unchecked Sendable {
    /// The folder with the members until they are put in place.
    package let folder: String
    private let data: String
    private var reader = TarReader()
    private var current: (name: String, descriptor: Int32, sizeBytes: Int, hash: SHA256)?
    private var document: [UInt8]?
    private var found: [String: (sizeBytes: Int, sha256: String)] = [:]
    private var manifest: JSONValue?
    private var isFirst = true
    private var isApplied = false
    /// The number of bytes read from the archive.
    public private(set) var bytesRead = 0

    private static let documentBytesMax = 64 << 20

    /// Creates a folder for the members in the data directory.
    public init(data: String) throws(BackupFailure) {
        self.data = data
        folder = "\(data)/\(Leftovers.stagePrefix)\(getpid())-\(UInt64.random(in: .min ... .max))"
        guard mkdir(folder, 0o700) == 0 else { throw .system("\(folder) cannot be created") }
    }

    deinit { discard() }

    /// Removes the files, unless they were applied. Blocks.
    package func discard() {
        if let current { close(current.descriptor) }
        current = nil
        if !isApplied { FileTree.remove(folder) }
        isApplied = true
    }

    /// Processes the next bytes of the archive.
    public func write(_ bytes: [UInt8]) throws(BackupFailure) {
        bytesRead += bytes.count
        var reader = reader
        try reader.read(bytes) { event throws(BackupFailure) in
            switch event {
            case .member(let name, let sizeBytes): try begin(name, sizeBytes)
            case .bytes(let range): try take(bytes[range])
            case .memberEnd: try endMember()
            case .end: break
            }
        }
        self.reader = reader
    }

    /// Checks the complete archive.
    ///
    /// - Returns: the names of the members.
    @discardableResult
    public func finish() throws(BackupFailure) -> [String] {
        guard reader.isComplete, let manifest else {
            throw BackupFailure(isFirst ? "this is not a backup of Hearth" : "the backup is not complete: its end is missing")
        }
        let listed = manifest["members"]?.array ?? []
        guard listed.count == found.count else {
            throw BackupFailure("the backup is damaged: its list names \(listed.count) members, and it has \(found.count)")
        }
        for entry in listed {
            let name = entry["name"]?.string ?? ""
            guard let member = found[name], entry["sha256"]?.string == member.sha256, entry["sizeBytes"]?.int == member.sizeBytes else {
                throw BackupFailure("the backup is damaged: \(name) differs from what was backed up")
            }
        }
        guard !found.isEmpty else { throw BackupFailure("the backup has no data; nothing was replaced") }
        for name in found.keys.sorted() { try checkContent(name) }
        for folder in Set(found.keys.compactMap { $0.split(separator: "/").count == 2 ? String($0.split(separator: "/")[0]) : nil }) {
            Folder.sync("\(self.folder)/\(folder)")
        }
        Folder.sync(folder)
        return found.keys.sorted()
    }

    /// Checks the content of a member.
    private func checkContent(_ name: String) throws(BackupFailure) {
        guard let room = BackupContents.room(of: name), let member = found[name] else { return }
        switch room.kind {
        case .file: break
        case .artifact:
            guard name == "\(room.folder)/\(member.sha256)\(room.suffix)" else {
                throw BackupFailure("the backup is damaged: \(name) is not the library of this name")
            }
        case .document:
            guard let text = try? WholeFile.read("\(folder)/\(name)", sizeBytesMax: DeployedFile.sizeMax),
                (try? JSONValue(parsing: text)) != nil
            else {
                throw BackupFailure("the backup is damaged: \(name) cannot be read")
            }
        case .database:
            do throws(SQLiteError) {
                let connection = try Connection("\(folder)/\(name)", access: .readOnly)
                _ = try connection.value("SELECT count(*) FROM sqlite_schema")
                connection.close()
            } catch {
                throw BackupFailure("the backup is damaged: \(name) is not a database (\(error.message))")
            }
        }
    }

    // MARK: Members

    private func begin(_ name: String, _ sizeBytes: Int) throws(BackupFailure) {
        if isFirst {
            guard name == BackupContents.head else { throw BackupFailure("this is not a backup of Hearth") }
            isFirst = false
        }
        guard manifest == nil else { throw BackupFailure("the backup is damaged: there is more data after its end") }
        if name == BackupContents.head || name == BackupContents.manifest {
            guard sizeBytes <= Self.documentBytesMax else { throw BackupFailure("the backup is damaged: \(name) is too long") }
            document = []
            current = (name, -1, sizeBytes, SHA256())
            return
        }
        guard let room = BackupContents.room(of: name), found[name] == nil else {
            throw BackupFailure(
                "the backup holds \"\(name.prefix(100))\", which this version does not know; restore with the version that made it, or a newer one")
        }
        if !room.folder.isEmpty { mkdir("\(folder)/\(room.folder)", 0o700) }
        let mode: mode_t = room.kind == .artifact ? 0o500 : 0o600
        let descriptor = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .system("\(folder)/\(name) cannot be written") }
        current = (name, descriptor, sizeBytes, SHA256())
    }

    private func take(_ bytes: ArraySlice<UInt8>) throws(BackupFailure) {
        if document != nil {
            document?.append(contentsOf: bytes)
            return
        }
        guard var member = current else { return }
        bytes.withUnsafeBytes { member.hash.update(bufferPointer: $0) }
        current = member
        let isWritten = bytes.withUnsafeBytes { DurableFile.writeAll($0, to: member.descriptor) }
        if !isWritten { throw .system("\(member.name) cannot be written") }
    }

    private func endMember() throws(BackupFailure) {
        guard let member = current else { return }
        current = nil
        if let text = document {
            document = nil
            return try read(text, as: member.name)
        }
        let isSynced = fsync(member.descriptor) == 0
        close(member.descriptor)
        guard isSynced else { throw .system("\(member.name) cannot be written") }
        found[member.name] = (member.sizeBytes, Hexadecimal.text(member.hash.finalize()))
    }

    private func read(_ text: [UInt8], as name: String) throws(BackupFailure) {
        guard let value = try? JSONValue(parsing: text), let format = value["format"]?.int else {
            throw BackupFailure("the backup is damaged: \(name) cannot be read")
        }
        guard format <= BackupContents.format else {
            throw BackupFailure(
                "the backup was made by a newer version of Hearth (format \(format), this one reads \(BackupContents.format)); upgrade first")
        }
        if name == BackupContents.manifest { manifest = value }
    }

    // MARK: Putting in place

    /// Replaces the data by the members, and keeps the previous data in another folder. No process may have the data open.
    ///
    /// - Returns: the folder with the previous data.
    public func apply() throws(BackupFailure) -> String {
        let kept = try RestoreSwitch.perform(stage: folder, data: data)
        isApplied = true
        return kept
    }
}
