import Files
import Glibc

/// The folder with everything that must outlive the host; nobody but its user may look into it.
package struct DataDirectory: Sendable {
    package let path: String
    /// Keeps other hosts away.
    package let lock: DataDirectoryLock
    /// What administrators present as bearer token.
    package let adminToken: [UInt8]

    package var artifacts: String { "\(path)/artifacts" }
    package var logs: String { "\(path)/logs" }
    package var databases: String { "\(path)/database" }
    /// Libraries that are on their way in.
    package var uploads: String { "\(path)/uploads" }
    /// What runs.
    package var deployed: String { "\(path)/deployed.json" }
    package var messages: String { "\(path)/messaging" }
    /// App Check tokens that count no more.
    package var consumedTokens: String { "\(path)/app-check.sqlite" }

    /// Takes the folder for this process, and makes what is missing.
    ///
    /// - Parameter advice: what to do where another process has it; ends the error's sentence.
    /// - Throws: `HostStartError` when the folder cannot be made or written, or when another host uses it.
    package init(path: String, advice: String = "stop it, or name another directory with --data-dir") throws(HostStartError) {
        self.path = try Self.make(path)
        lock = try DataDirectoryLock(self.path, advice: advice)
        do throws(BackupFailure) {
            try RestoreSwitch.complete(self.path)
        } catch {
            throw HostStartError("a restore that was interrupted cannot be completed: \(error)")
        }
        _ = try Self.make("\(self.path)/artifacts")
        _ = try Self.make("\(self.path)/database")
        _ = try Self.make("\(self.path)/uploads")
        _ = try Self.make("\(self.path)/messaging")
        adminToken = try Self.adminToken(in: self.path)
    }

    private static func make(_ path: String) throws(HostStartError) -> String {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw HostStartError("the data directory \(path) cannot be made: \(reason()); name another with --data-dir")
        }
        guard let resolved = realpath(path, nil) else {
            throw HostStartError("the data directory \(path) cannot be used: \(reason()); name another with --data-dir")
        }
        defer { free(resolved) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw HostStartError("the data directory \(path) is no directory; remove the file, or name another with --data-dir")
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw HostStartError("the data directory \(path) cannot be written to: \(reason()); name another with --data-dir")
        }
        return String(cString: resolved)
    }

    /// Reads the token, or makes one of 256 random bits on first start.
    private static func adminToken(in path: String) throws(HostStartError) -> [UInt8] {
        let file = "\(path)/admin-token"
        // One that was copied here may be readable for others.
        var status = stat()
        if lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 { chmod(file, 0o600) }
        do throws(FileFailure) {
            let token = try DurableFile.kept(file, sizeBytesMax: 1024, mode: 0o600) {
                var generator = SystemRandomNumberGenerator()
                // No "-": people paste it into shells, where one in front makes an option of it.
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
