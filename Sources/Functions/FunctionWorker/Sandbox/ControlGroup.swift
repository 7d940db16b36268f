import Glibc

/// A control group that bounds the memory, the processes and the threads of one worker with all that it starts.
///
/// The kernel ends what takes more memory, and refuses more processes. Where no groups can be made, a worker limits its own data segment,
/// which refuses memory instead. The worker joins by itself, because the kernel takes many milliseconds for that, which no loop has; the host
/// removes the group when its worker has ended.
public struct ControlGroup: Sendable {
    private let version: Int
    private let directories: [ControlGroups.Controller: String]

    init(version: Int, directories: [ControlGroups.Controller: String]) {
        self.version = version
        self.directories = directories
    }

    /// Of version 2 it is the same for all controllers.
    private var folders: Set<String> { Set(directories.values) }

    /// Makes the group and puts the calling process into it, without limits yet. Blocks.
    ///
    /// - Returns: whether the kernel allowed it.
    func join() -> Bool {
        for folder in folders {
            guard mkdir(folder, 0o755) == 0, ControlFile.write("0", to: "\(folder)/cgroup.procs") else {
                for folder in folders { rmdir(folder) }
                return false
            }
        }
        return true
    }

    /// Sets the limit of memory.
    ///
    /// - Returns: whether the kernel took it.
    func limit(bytes: UInt64) -> Bool {
        guard let folder = directories[.memory] else { return false }
        guard version == 2 else { return ControlFile.write("\(bytes)", to: "\(folder)/memory.limit_in_bytes") }
        // Without this, version 2 would swap out what is over the limit.
        _ = ControlFile.write("0", to: "\(folder)/memory.swap.max")
        return ControlFile.write("\(bytes)", to: "\(folder)/memory.max")
    }

    /// Sets the limit of processes and threads.
    ///
    /// - Returns: whether the kernel took it.
    func limit(tasks: Int) -> Bool {
        guard let folder = directories[.tasks] else { return false }
        return ControlFile.write("\(tasks)", to: "\(folder)/pids.max")
    }

    /// Removes the group once its processes are gone.
    ///
    /// - Returns: false where the kernel still has something in it, which may be so for a moment after the end.
    public func remove() -> Bool {
        var isGone = true
        for folder in folders where rmdir(folder) != 0 && errno == EBUSY { isGone = false }
        return isGone
    }

    /// Ends everything that is in the group. Does not wait for it.
    public func killAll() {
        for folder in folders where !ControlFile.write("1", to: "\(folder)/cgroup.kill") {
            // Nothing is started any more that is not in the list.
            _ = ControlFile.write("0", to: "\(folder)/pids.max")
            for word in (ControlFile.read("\(folder)/cgroup.procs") ?? "").split(separator: "\n") {
                if let pid = Int32(word), pid > 0 { kill(pid, SIGKILL) }
            }
        }
    }

    /// Whether the kernel has ended something in the group for want of memory.
    public var hasKilled: Bool {
        guard let folder = directories[.memory] else { return false }
        for file in ["memory.events", "memory.oom_control"] {
            guard let text = ControlFile.read("\(folder)/\(file)") else { continue }
            for line in text.split(separator: "\n") where line.hasPrefix("oom_kill ") { return line != "oom_kill 0" }
        }
        return false
    }
}
