import CLinux
import Glibc

/// `hearth stand-in PID STATUS ENDING`: remains of an upgraded host whose starter waits for its end. It waits for the host that took over
/// and for its successors, passes signals on, and exits with their status.
///
/// It adopts orphaned processes of the hosts. A host is in this process's session; other processes of a host lead their own sessions, get
/// no signals from here, and their ends are ignored.
enum StandIn {
    /// Turns this process into a stand-in. Returns only on failure.
    ///
    /// - Parameters:
    ///   - pid: the host that took over.
    ///   - status: its exit status, if it has ended.
    ///   - isEnding: whether it was told to end.
    static func become(for pid: Int32, status: Int32, isEnding: Bool) {
        let words = ["hearth", "stand-in", "\(pid)", "\(status)", isEnding ? "\(SIGTERM)" : "0"]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // Blocked signals stay pending across exec.
        var set = signalSet
        pthread_sigmask(SIG_BLOCK, &set, nil)
        execv("/proc/self/exe", arguments)
    }

    /// Signals for the host, and SIGCHLD.
    private static var signalSet: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD] { sigaddset(&set, number) }
        return set
    }

    /// - Parameter arguments: those of ``become(for:status:isEnding:)``.
    static func run(_ arguments: [Int32]) -> Never {
        let first = arguments[0]
        var status = arguments[1]
        var ending = arguments[2]
        var told: Set<Int32> = ending == 0 ? [] : [first]
        _ = linux_adopt_orphans()
        var set = signalSet
        sigprocmask(SIG_BLOCK, &set, nil)
        while reap(&status) {
            // Also tell a host that has taken over meanwhile from the one that was told to end. The kernel's list may miss a process while
            // another one ends, so check again.
            if ending != 0 {
                for child in hosts(first) where told.insert(child).inserted { kill(child, ending) }
            }
            var information = siginfo_t()
            var patience = timespec(tv_sec: 0, tv_nsec: 100_000_000)
            let number = ending == 0 ? sigwaitinfo(&set, &information) : sigtimedwait(&set, &information, &patience)
            // A terminal sends its signals to the host itself, too.
            guard number > 0, number != SIGCHLD, information.si_code != linux_si_kernel() else { continue }
            if number == SIGTERM || number == SIGINT || number == SIGQUIT {
                // The second signal means to stop at once.
                told = []
                ending = number
            } else {
                for child in hosts(first) { kill(child, number) }
            }
        }
        exit(status)
    }

    /// Reaps children that have ended.
    ///
    /// - Returns: whether children remain.
    private static func reap(_ last: inout Int32) -> Bool {
        while true {
            var information = siginfo_t()
            guard waitid(P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return false }
            let pid = information._sifields._sigchld.si_pid
            if pid == 0 { return true }
            let isHost = isHost(pid)
            var status: Int32 = 0
            guard waitpid(pid, &status, 0) == pid, isHost else { continue }
            last = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        }
    }

    /// Also works for a process that has ended but was not reaped.
    private static func isHost(_ pid: Int32) -> Bool { getsid(pid) == getsid(0) }

    /// The host processes; only the first one if the kernel does not list them.
    private static func hosts(_ first: Int32) -> [Int32] {
        let own = getpid()
        guard let file = fopen("/proc/\(own)/task/\(own)/children", "r") else { return [first] }
        defer { fclose(file) }
        var room = [CChar](repeating: 0, count: 4096)
        guard fgets(&room, 4096, file) != nil else { return [] }
        let text = String(decoding: room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: " ").compactMap { Int32($0) }.filter(isHost)
    }
}
