import Glibc

/// A control group that limits the memory of one worker: version 2 where it is writable, else version 1.
///
/// The kernel ends the worker when it takes more. Where neither version is writable a worker limits its own data segment,
/// which refuses memory instead. The worker joins by itself, because the kernel takes many milliseconds for that, which no loop has;
/// the host removes the group when its worker has ended.
public struct MemoryGroup {
    /// Which way memory is limited on this machine, for the log.
    public enum Mechanism: String, Sendable {
        case controlGroup2 = "cgroup v2"
        case controlGroup1 = "cgroup v1"
        case dataLimit = "RLIMIT_DATA"
    }

    /// Where a worker finds its ``Mechanism``.
    public static let variable = "HEARTH_MEMORY_GROUP"

    private let mechanism: Mechanism
    private let directory: String

    /// What can be used here, found by making a group of the host's own.
    public static func detectMechanism(hostPID: Int32) -> Mechanism {
        for mechanism in [Mechanism.controlGroup2, .controlGroup1] {
            guard let root = root(mechanism) else { continue }
            let probe = "\(root)/hearth-\(hostPID)-probe"
            guard mkdir(probe, 0o755) == 0 else { continue }
            defer { rmdir(probe) }
            let file = mechanism == .controlGroup2 ? "memory.max" : "memory.limit_in_bytes"
            if access("\(probe)/\(file)", W_OK) == 0 { return mechanism }
        }
        return .dataLimit
    }

    /// Removes the groups that hosts left behind which were killed before they could. Called before the first worker is started.
    public static func removeAbandoned(_ mechanism: Mechanism) {
        guard let root = root(mechanism), let directory = opendir(root) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let words = name.split(separator: "-")
            guard words.count == 3, words[0] == "hearth", let host = Int32(words[1]), isGone(host) else { continue }
            // A group that still has a process in it cannot be removed, and stays.
            rmdir("\(root)/\(name)")
        }
    }

    /// Whether there is no such host any more; one of this number was another process, before this one has made any group.
    private static func isGone(_ host: Int32) -> Bool { host == getpid() || (kill(host, 0) != 0 && errno == ESRCH) }

    private static func root(_ mechanism: Mechanism) -> String? {
        switch mechanism {
        case .controlGroup2: "/sys/fs/cgroup"
        case .controlGroup1: "/sys/fs/cgroup/memory"
        case .dataLimit: nil
        }
    }

    /// The group of the worker `pid`, whether it is there yet or not; nil where there are no groups.
    public init?(_ mechanism: Mechanism, pid: Int32, hostPID: Int32) {
        guard let root = Self.root(mechanism) else { return nil }
        self.mechanism = mechanism
        directory = "\(root)/hearth-\(hostPID)-\(pid)"
    }

    /// Makes the group and puts the calling process into it, without a limit yet. Blocks.
    ///
    /// - Returns: whether the kernel allowed it.
    func join() -> Bool {
        guard mkdir(directory, 0o755) == 0 else { return false }
        if Self.write("0", to: "\(directory)/cgroup.procs") { return true }
        rmdir(directory)
        return false
    }

    /// Sets the limit.
    ///
    /// - Returns: whether the kernel took it.
    func limit(bytes: UInt64) -> Bool {
        guard mechanism == .controlGroup2 else { return Self.write("\(bytes)", to: "\(directory)/memory.limit_in_bytes") }
        // Without this, version 2 would swap out what is over the limit.
        _ = Self.write("0", to: "\(directory)/memory.swap.max")
        return Self.write("\(bytes)", to: "\(directory)/memory.max")
    }

    /// Removes the group once its process is gone.
    ///
    /// - Returns: false where the kernel still has something in it, which may be so for a moment after the end.
    public func remove() -> Bool { rmdir(directory) == 0 || errno != EBUSY }

    /// Whether the kernel has ended something in the group for want of memory.
    public var hasKilled: Bool {
        for file in ["memory.events", "memory.oom_control"] {
            guard let text = Self.read("\(directory)/\(file)") else { continue }
            for line in text.split(separator: "\n") where line.hasPrefix("oom_kill ") { return line != "oom_kill 0" }
        }
        return false
    }

    private static func write(_ text: String, to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
    }

    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var room = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &room, room.count)
        return count < 0 ? nil : String(decoding: room[..<count], as: UTF8.self)
    }
}
