import CLinux
import Glibc

/// `hearth clean-up`: the process that kills the remaining descendants of a worker when the worker or the host has ended.
///
/// A worker leads its own session, which neither it nor its descendants can leave (the sandbox denies `setsid`): so the kernel identifies
/// all descendants, even reparented ones. The host writes the process id of each worker that it starts, and the negated id when it has
/// ended; end of input means that the host has ended.
public enum WorkerCleanup {
    /// The most sweeps: processes in kernel calls do not end at once.
    private static let sweepsMax = 2000

    /// Reads standard input until the host has ended.
    public static func main() -> Never {
        // Ignores signals that a terminal or service manager sends to the whole group: this process ends last.
        var all = sigset_t()
        sigfillset(&all)
        sigprocmask(SIG_BLOCK, &all, nil)
        _ = chdir("/")
        // Closes inherited descriptors: other processes wait for their end of file.
        _ = linux_close_from(3)
        var started: [Int32: UInt64] = [:]
        while let number = next() {
            if number > 0 {
                started[number] = SessionMember.of(number)?.started ?? .max
            } else if let moment = started.removeValue(forKey: -number) {
                end([-number: moment])
            }
        }
        end(started)
        _exit(0)
    }

    private static func next() -> Int32? {
        var number: Int32 = 0
        var filled = 0
        while filled < 4 {
            let count = withUnsafeMutableBytes(of: &number) { read(0, $0.baseAddress.map { $0 + filled }, 4 - filled) }
            if count <= 0 {
                guard count < 0, errno == EINTR else { return nil }
                continue
            }
            filled += count
        }
        return number
    }

    /// Kills every process of these sessions.
    ///
    /// - Parameter sessions: the process ids of the workers that lead them, with their start times.
    private static func end(_ sessions: [Int32: UInt64]) {
        var sessions = sessions
        for _ in 0..<sweepsMax where !sessions.isEmpty {
            var isQuiet = true
            for process in SessionMember.all where sessions[process.session] != nil {
                if process.id == process.session, process.started != sessions[process.session] {
                    // The process id was reused: the worker's session is empty.
                    sessions[process.session] = nil
                } else {
                    isQuiet = false
                    kill(process.id, SIGKILL)
                }
            }
            if isQuiet { return }
            usleep(1000)
        }
    }
}

/// A process and its session.
public struct SessionMember: Sendable {
    /// Its process id.
    public var id: Int32
    /// The process id of the session leader.
    public var session: Int32
    /// Start time in clock ticks since boot.
    var started: UInt64

    /// All running processes. Blocks.
    public static var all: [SessionMember] {
        guard let directory = opendir("/proc") else { return [] }
        defer { closedir(directory) }
        var found: [SessionMember] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let id = Int32(name), let member = of(id) { found.append(member) }
        }
        return found
    }

    /// Nil if there is no such process or it has ended.
    static func of(_ id: Int32) -> SessionMember? {
        guard let text = ControlFile.read("/proc/\(id)/stat"), let mark = text.lastIndex(of: ")") else { return nil }
        // Fields after the name: state, parent, group, session; the twentieth is the start time.
        let words = text[text.index(after: mark)...].split(separator: " ")
        guard words.count > 19, words[0] != "Z", words[0] != "X", let session = Int32(words[3]), let started = UInt64(words[19]) else { return nil }
        return SessionMember(id: id, session: session, started: started)
    }
}
