import RealtimeDatabase

/// A restore into the data directory of a host that does not run.
public enum OfflineRestore {
    /// Checks a backup as it is read, and puts it in place.
    ///
    /// - Parameters:
    ///   - next: the next bytes of the archive, none at its end.
    /// - Returns: how many members it had, and where what was there is now.
    public static func run(data: String, next: () throws -> [UInt8]) throws -> (members: Int, kept: String) {
        do throws(HostStartError) {
            _ = try DataDirectory(path: data)
        } catch {
            throw BackupFailure(error.description)
        }
        let lock: DatabaseFolder
        do throws(StoreError) {
            lock = try DatabaseFolder(locking: "\(data)/database")
        } catch {
            throw error.kind == .busy
                ? BackupFailure("a host runs with \(data); restore through it, without --into, or stop it first") : BackupFailure(error.message)
        }
        let stage = try RestoreStage(data: data)
        while true {
            let bytes = try next()
            if bytes.isEmpty { break }
            try stage.write(bytes)
        }
        let members = try stage.finish()
        let kept = try stage.apply()
        withExtendedLifetime(lock) {}
        return (members.count, kept)
    }
}
