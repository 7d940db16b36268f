import CLinux
import Files
import Glibc

/// What descends from this process, grandchildren whose parents are gone included.
enum ProcessFamily {
    /// From now on nothing that descends from this process can get away from it.
    static func adoptOrphans() { _ = linux_adopt_orphans() }

    /// The living descendants, but for `spared` and what descends from that.
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

    /// Kills all descendants, those that are born meanwhile too. Gives up on what the kernel does not let die.
    static func killAll() {
        for _ in 0..<2000 {
            while waitpid(-1, nil, WNOHANG) > 0 {}
            let left = descendants()
            if left.isEmpty { return }
            for pid in left { kill(pid, SIGKILL) }
            usleep(2000)
        }
    }

    /// All processes that are not zombies, with their parents.
    private static func everyProcess() -> [(pid: pid_t, parent: pid_t)] {
        Folder.names(in: "/proc").compactMap { name in
            guard let pid = pid_t(name), let parent = parent(of: pid) else { return nil }
            return (pid, parent)
        }
    }

    /// nil for a zombie, and where there is no such process any more.
    private static func parent(of pid: pid_t) -> pid_t? {
        let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var room = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &room, room.count)
        // A program's name may hold anything, brackets too.
        guard count > 0, let end = room[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = room[(end + 1)..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 1, fields[0].first != UInt8(ascii: "Z") else { return nil }
        return pid_t(String(decoding: fields[1], as: UTF8.self))
    }
}
