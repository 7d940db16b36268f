import CLinux
import Files
import Glibc

/// The descendants of this process, including reparented ones.
enum ProcessFamily {
    /// Makes this process the reaper of all of its descendants.
    static func adoptOrphans() { _ = linux_adopt_orphans() }

    /// The living descendants, except `spared` and its descendants.
    static func descendants(sparing spared: pid_t? = nil) -> [pid_t] {
        let parents = everyProcess()
        var family: Set<pid_t> = [getpid()]
        var grew = true
        while grew {
            grew = false
            for (pid, parent) in parents where family.contains(parent) && pid != spared && family.insert(pid).inserted { grew = true }
        }
        family.remove(getpid())
        return family.sorted()
    }

    /// Sends a signal to all of them.
    static func signal(_ number: Int32, sparing spared: pid_t? = nil) {
        for pid in descendants(sparing: spared) { kill(pid, number) }
    }

    /// Kills all descendants, including those started meanwhile. Gives up on processes that the kernel does not end.
    static func killAll() {
        for _ in 0..<2000 {
            while waitpid(-1, nil, WNOHANG) > 0 {}
            let left = descendants()
            if left.isEmpty { return }
            for pid in left { kill(pid, SIGKILL) }
            usleep(2000)
        }
    }

    /// All processes except zombies, with their parents.
    private static func everyProcess() -> [(pid: pid_t, parent: pid_t)] {
        Folder.names(in: "/proc").compactMap { name in
            guard let pid = pid_t(name), let parent = parent(of: pid) else { return nil }
            return (pid, parent)
        }
    }

    /// Nil for a zombie or an ended process.
    private static func parent(of pid: pid_t) -> pid_t? {
        let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var room = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &room, room.count)
        // A program's name may contain any characters, including brackets.
        guard count > 0, let end = room[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = room[(end + 1)..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 1, fields[0].first != UInt8(ascii: "Z") else { return nil }
        return pid_t(String(decoding: fields[1], as: UTF8.self))
    }
}

/// The events that a supervising process waits for: signals, ends of children, and data on descriptors.
final class ProcessEvents {
    enum Event: Equatable {
        /// A child ended, with the status of `waitpid`.
        case ended(pid_t, status: Int32)
        /// A signal to pass on. One from the terminal has already reached the whole foreground group.
        case signal(Int32, isFromTerminal: Bool)
        /// The process at the other end of the lifeline has ended.
        case callerGone
        /// The whole contents of the announcement pipe.
        case announcement([UInt8])
        case timeout
    }

    private let signals: Int32
    private let lifeline: Int32?
    private var pipe: Int32?
    private var announced: [UInt8] = []
    private var queue: [Event] = []

    /// The signals to pass on.
    static let passed: [Int32] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2]

    /// - Parameter lifeline: a socket that delivers signals, two bytes each, and ends with its writer.
    init(lifeline: Int32? = nil) {
        self.lifeline = lifeline
        Glibc.signal(SIGCHLD, SIG_DFL)
        let numbers = Self.passed + [SIGCHLD]
        signals = linux_signal_descriptor(numbers, UInt32(numbers.count))
    }

    /// Reads this pipe to its end.
    func expectAnnouncement(on descriptor: Int32) { pipe = descriptor }

    /// Waits for the next event.
    ///
    /// - Parameter milliseconds: the time limit; nil for none.
    func next(withinMilliseconds milliseconds: Int32? = nil) -> Event {
        while queue.isEmpty {
            var entries = [pollfd(fd: signals, events: Int16(POLLIN), revents: 0)]
            entries.append(pollfd(fd: lifeline ?? -1, events: Int16(POLLIN), revents: 0))
            entries.append(pollfd(fd: pipe ?? -1, events: Int16(POLLIN), revents: 0))
            let count = poll(&entries, nfds_t(entries.count), milliseconds ?? -1)
            if count == 0 { return .timeout }
            guard count > 0 else { continue }
            if entries[0].revents != 0 { takeSignals() }
            if entries[1].revents != 0 { takeFromCaller() }
            if entries[2].revents != 0 { takeAnnouncement() }
        }
        return queue.removeFirst()
    }

    private func takeSignals() {
        var isFromKernel: Int32 = 0
        while case let number = linux_next_signal(signals, &isFromKernel), number > 0 {
            if number != SIGCHLD { queue.append(.signal(number, isFromTerminal: isFromKernel != 0)) }
        }
        var status: Int32 = 0
        while case let pid = waitpid(-1, &status, WNOHANG), pid > 0 { queue.append(.ended(pid, status: status)) }
    }

    private func takeFromCaller() {
        guard let lifeline else { return }
        var room: [UInt8] = [0, 0]
        let count = recv(lifeline, &room, room.count, Int32(MSG_DONTWAIT))
        if count == 2 {
            queue.append(.signal(Int32(room[0]), isFromTerminal: room[1] != 0))
        } else if count >= 0 || (errno != EAGAIN && errno != EINTR) {
            queue.append(.callerGone)
        }
    }

    private func takeAnnouncement() {
        guard let descriptor = pipe else { return }
        var room = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &room, room.count)
        if count > 0 {
            announced += room[..<count]
        } else if count == 0 || errno != EINTR {
            close(descriptor)
            pipe = nil
            queue.append(.announcement(announced))
        }
    }
}

/// Interprets the status of `waitpid`.
enum ProcessEnding {
    /// The exit status that a shell would show: 128 plus the signal's number after a signal.
    static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
