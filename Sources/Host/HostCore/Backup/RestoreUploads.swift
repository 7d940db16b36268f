import AdminProtocol
import EventLoop
import Glibc

/// Backups that arrive through the running host: pieces in order, one restore at a time. Belongs to the home loop; files are written on
/// the thread pool.
package final class RestoreUploads {
    private let loop: EventLoop
    private let data: String
    private var current: Upload?
    private var isBeginning = false

    private final class Upload {
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        let stage: RestoreStage
        var offset = 0
        /// Whether a piece is written or checked now. Another one is refused meanwhile.
        var isBusy = false

        init(_ stage: RestoreStage) { self.stage = stage }
    }

    package init(loop: EventLoop, data: String) {
        self.loop = loop
        self.data = data
    }

    /// Begins a restore, and returns its id. The previous one is discarded, unless it was applied.
    package func begin() async throws(AdminError) -> String {
        guard !isBeginning, current?.isBusy != true else { throw AdminError(.unavailable, "another restore is under way; try again") }
        isBeginning = true
        defer { isBeginning = false }
        let former = current?.stage
        current = nil
        do throws(BackupFailure) {
            let upload = Upload(
                try await loop.offload { [data] () throws(BackupFailure) in
                    former?.discard()
                    return try RestoreStage(data: data)
                })
            current = upload
            return upload.id
        } catch {
            throw AdminError(.unavailable, error.description)
        }
    }

    /// Takes the next piece of the archive, and returns the number of bytes that have arrived.
    package func write(_ id: String, offset: Int, _ bytes: [UInt8]) async throws(AdminError) -> Int {
        let upload = try found(id)
        guard offset == upload.offset else {
            throw AdminError(.failedPrecondition, "expected the piece at offset \(upload.offset), found the one at \(offset)")
        }
        try await work(upload) { (stage) throws(BackupFailure) in try stage.write(bytes) }
        upload.offset += bytes.count
        return upload.offset
    }

    /// Checks the archive, which is complete, and gives it away.
    ///
    /// - Returns: the restored files, and their number.
    package func finish(_ id: String) async throws(AdminError) -> (stage: RestoreStage, members: Int) {
        let upload = try found(id)
        let members = try await work(upload) { (stage) throws(BackupFailure) in try stage.finish().count }
        current = nil
        return (upload.stage, members)
    }

    /// Discards a restore. Does nothing if there is none with this id.
    ///
    /// - Throws: `AdminError` while a piece of it is written.
    package func remove(_ id: String) async throws(AdminError) {
        guard let upload = current, upload.id == id else { return }
        guard !upload.isBusy else { throw AdminError(.unavailable, "a piece of the restore is being written; try again") }
        current = nil
        await loop.offload { [stage = upload.stage] in stage.discard() }
    }

    /// Discards a restore that has not been applied: the host ends.
    package func end() async {
        guard let upload = current else { return }
        current = nil
        await loop.offload { [stage = upload.stage] in stage.discard() }
    }

    private func found(_ id: String) throws(AdminError) -> Upload {
        guard let current, current.id == id, !current.isBusy else {
            throw AdminError(.notFound, "there is no such restore, or it is busy; start again")
        }
        return current
    }

    /// Works on the files. A failure ends the restore.
    private func work<Value: Sendable>(
        _ upload: Upload, _ body: @escaping @Sendable (RestoreStage) throws(BackupFailure) -> Value
    ) async throws(AdminError) -> Value {
        upload.isBusy = true
        defer { upload.isBusy = false }
        do throws(BackupFailure) {
            return try await loop.offload { [stage = upload.stage] () throws(BackupFailure) in
                do throws(BackupFailure) {
                    return try body(stage)
                } catch {
                    stage.discard()
                    throw error
                }
            }
        } catch {
            if current === upload { current = nil }
            throw error.isOfSystem ? AdminError(.unavailable, "\(error); start the restore again") : AdminError(.invalidArgument, "\(error)")
        }
    }
}
