import CLinux
import Glibc

/// The right to use a data directory. One process has it, and shares it with the one that takes over; the system ends it with the last of
/// them.
final class DataDirectoryLock: Sendable {
    /// The variable that names the descriptor that the new host of an upgrade inherits.
    private static let variable = "HEARTH_DATA_LOCK"
    /// A host that ends keeps the lock until its databases are closed.
    private static let patienceMilliseconds = 2000

    /// The open file that the lock belongs to.
    let descriptor: Int32

    /// - Parameter advice: ends the error's sentence: what to do where another process has the directory.
    /// - Throws: `HostStartError` where another process has it, or where the file cannot be opened.
    init(_ directory: String, advice: String) throws(HostStartError) {
        let path = "\(directory)/lock"
        if let inherited = Self.inherited(of: path) {
            descriptor = inherited
            return
        }
        descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HostStartError("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        var waited = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            guard reason == EWOULDBLOCK, waited < Self.patienceMilliseconds else {
                let owner = owner
                close(descriptor)
                guard reason == EWOULDBLOCK else { throw HostStartError("\(path) cannot be locked: \(String(cString: strerror(reason)))") }
                throw HostStartError("the data directory \(directory) is used by another host\(owner.map { ", process \($0)" } ?? ""); \(advice)")
            }
            usleep(50_000)
            waited += 50
        }
        claim()
    }

    deinit { close(descriptor) }

    /// The environment entry by which a process that inherits `descriptor` as `number` knows it.
    static func entry(number: Int32) -> String { "\(variable)=\(number)" }

    /// Writes down that this process is the one that has it.
    func claim() {
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    private var owner: Int32? {
        var room = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &room, room.count, 0)
        guard count > 1 else { return nil }
        return Int32(String(decoding: room[..<(count - 1)], as: UTF8.self))
    }

    private static func inherited(of path: String) -> Int32? {
        guard let text = getenv(variable), let number = Int32(String(cString: text)) else { return nil }
        unsetenv(variable)
        var (here, there) = (stat(), stat())
        guard number > 2, fstat(number, &here) == 0, stat(path, &there) == 0, here.st_dev == there.st_dev, here.st_ino == there.st_ino else {
            return nil
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        return number
    }
}
