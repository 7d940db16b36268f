import CLinux
import Glibc

/// `hearth stand-in PID STATUS ENDING`: what is left of a host that was upgraded, where whoever started it waits for its end. It waits for
/// the host that took over and for those that follow it, hands signals on, and ends as they do.
///
/// It becomes the parent of whatever the hosts leave behind. A host is in this process's session; whatever else a host starts leads a
/// session of its own, gets no signal from here, and its end says nothing.
enum StandIn {
    /// Turns this process into one. Returns only where that fails.
    ///
    /// - Parameters:
    ///   - pid: the host that took over.
    ///   - status: how it has ended, where it has.
    ///   - isEnding: whether it was told to end.
    static func become(for pid: Int32, status: Int32, isEnding: Bool) {
        let words = ["hearth", "stand-in", "\(pid)", "\(status)", isEnding ? "\(SIGTERM)" : "0"]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // What is blocked waits through the change.
        var set = signalSet
        pthread_sigmask(SIG_BLOCK, &set, nil)
        execv("/proc/self/exe", arguments)
    }

    /// Signals that are meant for the host, and the news of its end.
    private static var signalSet: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD] { sigaddset(&set, number) }
        return set
    }

    /// - Parameter arguments: as ``become(for:status:isEnding:)`` says.
    static func run(_ arguments: [Int32]) -> Never {
        let first = arguments[0]
        var status = arguments[1]
        var ending = arguments[2]
        var told: Set<Int32> = ending == 0 ? [] : [first]
        _ = linux_adopt_orphans()
        var set = signalSet
        sigprocmask(SIG_BLOCK, &set, nil)
        while reap(&status) {
            // A host that has taken over meanwhile from the one that was told to end is told, too. The kernel's list may lack a process
            // while another one ends, so that it is looked at again.
            if ending != 0 {
                for child in hosts(first) where told.insert(child).inserted { kill(child, ending) }
            }
            var information = siginfo_t()
            var patience = timespec(tv_sec: 0, tv_nsec: 100_000_000)
            let number = ending == 0 ? sigwaitinfo(&set, &information) : sigtimedwait(&set, &information, &patience)
            // What a terminal sends, it sends to the host itself, too.
            guard number > 0, number != SIGCHLD, information.si_code != linux_si_kernel() else { continue }
            if number == SIGTERM || number == SIGINT || number == SIGQUIT {
                // The second one means at once.
                told = []
                ending = number
            } else {
                for child in hosts(first) { kill(child, number) }
            }
        }
        exit(status)
    }

    /// Waits for the children that have ended.
    ///
    /// - Returns: whether there are others.
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

    /// Also works for a process that has ended and was not yet waited for.
    private static func isHost(_ pid: Int32) -> Bool { getsid(pid) == getsid(0) }

    /// The first one where the kernel does not tell.
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
