import Files
import Glibc

/// The lock of a data directory. A process has it, and shares it with a process that takes over.
package final class DataDirectoryLock: Sendable {
    /// The environment variable with the descriptor that the new host of an upgrade inherits.
    private static let variable = "HEARTH_DATA_LOCK"
    /// How long to wait for another host that is ending: it keeps the lock until its databases are closed.
    private static let patienceMilliseconds = 2000

    private let lock: FileLock

    /// - Parameter advice: the advice at the end of the error for a folder that another process uses.
    /// - Throws: `HostStartError` if another process has the lock, or if the file cannot be opened.
    init(_ directory: String, advice: String) throws(HostStartError) {
        let path = "\(directory)/lock"
        if let inherited = Self.inherited(of: path) {
            lock = FileLock(inherited: inherited)
            return
        }
        do throws(FileFailure) {
            lock = try Self.wait(for: path)
        } catch {
            throw Self.refusal(error, path, directory, advice)
        }
        claim()
    }

    /// Checks that no other process has the lock, and changes nothing.
    ///
    /// - Throws: `HostStartError` if one has it.
    static func requireFree(_ directory: String, advice: String) throws(HostStartError) {
        let path = "\(directory)/lock"
        guard FileTree.exists(path) else { return }
        do throws(FileFailure) { _ = try wait(for: path) } catch { throw refusal(error, path, directory, advice) }
    }

    /// Whether a process has the lock. Does not wait, and changes nothing.
    package static func isTaken(_ directory: String) -> Bool {
        let path = "\(directory)/lock"
        guard FileTree.exists(path) else { return false }
        do throws(FileFailure) { _ = try FileLock(path) } catch { return error.isBusy }
        return false
    }

    private static func refusal(_ error: FileFailure, _ path: String, _ directory: String, _ advice: String) -> HostStartError {
        guard error.isBusy else { return HostStartError("\(path) \(error)") }
        let owner = owner(path).map { ", process \($0)" } ?? ""
        return HostStartError("the data directory \(directory) is used by another host\(owner); \(advice)")
    }

    /// The descriptor of the locked file, for a process that shares the lock.
    package var descriptor: Int32 { lock.descriptor }

    /// The environment entry for a process that inherits ``descriptor`` as `number`.
    package static func entry(number: Int32) -> String { "\(variable)=\(number)" }

    /// Writes this process's id into the file.
    package func claim() {
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    private static func wait(for path: String) throws(FileFailure) -> FileLock {
        for _ in 0..<patienceMilliseconds / 50 {
            do throws(FileFailure) { return try FileLock(path) } catch { if !error.isBusy { throw error } }
            usleep(50_000)
        }
        return try FileLock(path)
    }

    private static func owner(_ path: String) -> Int32? {
        guard let bytes = try? WholeFile.read(path, sizeBytesMax: 64) else { return nil }
        return Int32(String(decoding: bytes.dropLast(), as: UTF8.self))
    }

    private static func inherited(of path: String) -> Int32? {
        guard let text = getenv(variable), let number = Int32(String(cString: text)) else { return nil }
        unsetenv(variable)
        var (here, there) = (stat(), stat())
        guard number > 2, fstat(number, &here) == 0, stat(path, &there) == 0, here.st_dev == there.st_dev, here.st_ino == there.st_ino else {
            return nil
        }
        return number
    }
}
