import Files
import Glibc

/// The folder with the persistent data of a host. Only its user can read it.
package struct DataDirectory: Sendable {
    package let path: String
    /// Excludes other hosts.
    package let lock: DataDirectoryLock
    /// The bearer token of administrators.
    package let adminToken: [UInt8]

    package var artifacts: String { "\(path)/artifacts" }
    package var logs: String { "\(path)/logs" }
    package var databases: String { "\(path)/database" }
    /// Libraries that are being uploaded.
    package var uploads: String { "\(path)/uploads" }
    /// The record of the deployed functions.
    package var deployed: String { "\(path)/deployed.json" }
    package var messages: String { "\(path)/messaging" }
    /// Users, and the keys that sign their tokens.
    package var users: String { "\(path)/users" }
    package var schedules: String { "\(path)/schedules" }
    package var tasks: String { "\(path)/tasks" }
    /// Consumed App Check tokens.
    package var consumedTokens: String { "\(path)/app-check.sqlite" }

    /// Locks the folder for this process, and creates what is missing.
    ///
    /// - Parameter advice: the advice at the end of the error for a folder that another process uses.
    /// - Throws: `HostStartError` if the folder cannot be created or written to, or if another host uses it.
    package init(path: String, advice: String = Self.advice) throws(HostStartError) {
        self.path = try Self.make(path)
        lock = try DataDirectoryLock(self.path, advice: advice)
        do throws(BackupFailure) {
            try RestoreSwitch.complete(self.path)
        } catch {
            throw HostStartError("a restore that was interrupted cannot be completed: \(error)")
        }
        Leftovers.remove(from: self.path)
        _ = try Self.make("\(self.path)/artifacts")
        _ = try Self.make("\(self.path)/database")
        _ = try Self.make("\(self.path)/uploads")
        _ = try Self.make("\(self.path)/messaging")
        _ = try Self.make("\(self.path)/users")
        _ = try Self.make("\(self.path)/schedules")
        _ = try Self.make("\(self.path)/tasks")
        adminToken = try Self.adminToken(in: self.path)
    }

    /// Checks that no other host uses the folder, and changes nothing. The folder may be missing.
    ///
    /// - Throws: `HostStartError` if another host uses it.
    package static func requireFree(_ path: String) throws(HostStartError) { try DataDirectoryLock.requireFree(path, advice: advice) }

    package static let advice = "stop it, or name another directory with --data-dir"

    private static func make(_ path: String) throws(HostStartError) -> String {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw HostStartError("the data directory \(path) cannot be created: \(reason()); name another with --data-dir")
        }
        guard let resolved = realpath(path, nil) else {
            throw HostStartError("the data directory \(path) cannot be used: \(reason()); name another with --data-dir")
        }
        defer { free(resolved) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw HostStartError("the data directory \(path) is not a directory; remove the file, or name another with --data-dir")
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw HostStartError("the data directory \(path) cannot be written to: \(reason()); name another with --data-dir")
        }
        return String(cString: resolved)
    }

    /// Reads the token. Creates one from about 256 random bits at the first start.
    private static func adminToken(in path: String) throws(HostStartError) -> [UInt8] {
        let file = "\(path)/admin-token"
        // A file that was copied here may be readable for others.
        var status = stat()
        if lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 { chmod(file, 0o600) }
        do throws(FileFailure) {
            let token = try DurableFile.kept(file, sizeBytesMax: 1024, mode: 0o600) {
                var generator = SystemRandomNumberGenerator()
                // Without "-", because a token at the start of a shell argument would look like an option.
                let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
                return (0..<43).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] }
            }
            if let token { return token.filter { $0 > 32 } }
        } catch {
            throw HostStartError("\(file) \(error)")
        }
        throw HostStartError("\(file) contains no token; remove it, and the host makes a new one")
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
