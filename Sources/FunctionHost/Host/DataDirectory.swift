import Glibc

/// The folder with everything that must outlive the host; nobody but its user may look into it.
struct DataDirectory: Sendable {
    let path: String
    /// What administrators present as bearer token.
    let adminToken: [UInt8]

    var artifacts: String { "\(path)/artifacts" }
    var logs: String { "\(path)/logs" }
    var databases: String { "\(path)/database" }
    /// Libraries that are on their way in.
    var uploads: String { "\(path)/uploads" }
    /// What runs.
    var deployed: String { "\(path)/deployed.json" }
    var messages: String { "\(path)/messaging" }

    /// Makes what is missing.
    ///
    /// - Throws: `HostStartError` when the folder cannot be made or written.
    init(path: String) throws(HostStartError) {
        self.path = try Self.make(path)
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
            throw HostStartError("the data directory \(path) cannot be made: \(reason()); name another with --data")
        }
        guard let resolved = realpath(path, nil) else {
            throw HostStartError("the data directory \(path) cannot be used: \(reason()); name another with --data")
        }
        defer { free(resolved) }
        guard access(path, W_OK | X_OK) == 0 else {
            throw HostStartError("the data directory \(path) cannot be written to: \(reason()); name another with --data")
        }
        return String(cString: resolved)
    }

    /// Reads the token, or makes one of 256 random bits on first start.
    private static func adminToken(in path: String) throws(HostStartError) -> [UInt8] {
        let file = "\(path)/admin-token"
        if let token = read(file) { return token }
        var generator = SystemRandomNumberGenerator()
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let token = (0..<43).map { _ in letters[Int.random(in: 0..<64, using: &generator)] }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HostStartError("\(file) cannot be written: \(reason())") }
        defer { close(descriptor) }
        guard write(descriptor, token, token.count) == token.count else {
            throw HostStartError("\(file) cannot be written: \(reason())")
        }
        return token
    }

    private static func read(_ file: String) -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var room = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(descriptor, &room, room.count)
        let token = room.prefix(max(0, count)).filter { $0 > 32 }
        return token.isEmpty ? nil : token
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
