import CLinux
import Glibc

/// `hearth clean-up`: the process that ends what workers have started and left behind, when a worker has ended or the host has.
///
/// A worker leads a session of its own, and neither it nor what it starts can leave that (`setsid` is refused in its sandbox): so the kernel
/// names all that stems from it, whoever its parent has become. The host writes the number of each worker that it starts, and its negative
/// when it has ended; the end of the host is the end of the input.
public enum WorkerCleanup {
    /// How long ending processes is tried: what waits in the kernel does not end at once.
    private static let sweepsMax = 2000

    /// Reads from standard input until the host is gone.
    public static func main() -> Never {
        // Ignore signals that a terminal or a service manager sends to the whole group: this process ends last.
        var all = sigset_t()
        sigfillset(&all)
        sigprocmask(SIG_BLOCK, &all, nil)
        _ = chdir("/")
        // Inherited descriptors must be closed: other processes wait for their end.
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

    /// Ends every process of these sessions.
    ///
    /// - Parameter sessions: the numbers of the workers that lead them, and when these were started.
    private static func end(_ sessions: [Int32: UInt64]) {
        var sessions = sessions
        for _ in 0..<sweepsMax where !sessions.isEmpty {
            var isQuiet = true
            for process in SessionMember.all where sessions[process.session] != nil {
                if process.id == process.session, process.started != sessions[process.session] {
                    // The number was reused: nothing is left of the worker's session.
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

/// A process and its session, as the kernel tells of them.
public struct SessionMember: Sendable {
    /// Its process id.
    public var id: Int32
    /// The process id of the one that leads its session.
    public var session: Int32
    /// In ticks since the machine was started.
    var started: UInt64

    /// All that have not ended. Blocks.
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

    /// Nil where there is no such process, or where it has ended.
    static func of(_ id: Int32) -> SessionMember? {
        guard let text = ControlFile.read("/proc/\(id)/stat"), let mark = text.lastIndex(of: ")") else { return nil }
        // After the name: state, parent, group, session; the twentieth is the start.
        let words = text[text.index(after: mark)...].split(separator: " ")
        guard words.count > 19, words[0] != "Z", words[0] != "X", let session = Int32(words[3]), let started = UInt64(words[19]) else { return nil }
        return SessionMember(id: id, session: session, started: started)
    }
}
