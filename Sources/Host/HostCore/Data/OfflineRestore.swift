/// Restores a backup into the data directory of a host that is not running.
public enum OfflineRestore {
    /// Reads and checks a backup, and then puts its data in place.
    ///
    /// - Parameters:
    ///   - next: returns the next bytes of the archive; none at its end.
    /// - Returns: the number of members, and the folder with the previous data.
    public static func run(data: String, next: () throws -> [UInt8]) throws -> (members: Int, kept: String) {
        let directory: DataDirectory
        do throws(HostStartError) {
            directory = try DataDirectory(path: data, advice: "restore through it, without --into, or stop it first")
        } catch {
            throw BackupFailure(error.description)
        }
        let stage = try RestoreStage(data: data)
        while true {
            let bytes = try next()
            if bytes.isEmpty { break }
            try stage.write(bytes)
        }
        let members = try stage.finish()
        let kept = try stage.apply()
        withExtendedLifetime(directory.lock) {}
        return (members.count, kept)
    }
}
