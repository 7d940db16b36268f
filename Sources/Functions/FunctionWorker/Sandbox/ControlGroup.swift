import Glibc

/// A control group that limits memory, processes and threads of one worker and its descendants.
///
/// The kernel kills a process that exceeds the memory limit, and refuses further processes. Where no groups can be made, a worker limits
/// its own data segment instead, so that allocations fail. The worker joins the group itself, because that takes the kernel many
/// milliseconds, which would block a loop; the host removes the group when the worker has ended.
public struct ControlGroup: Sendable {
    private let version: Int
    private let directories: [ControlGroups.Controller: String]

    init(version: Int, directories: [ControlGroups.Controller: String]) {
        self.version = version
        self.directories = directories
    }

    /// With version 2, one folder for all controllers.
    private var folders: Set<String> { Set(directories.values) }

    /// Creates the group and moves the calling process into it, without limits yet. Blocks.
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

    /// Sets the memory limit.
    ///
    /// - Returns: whether the kernel accepted it.
    func limit(bytes: UInt64) -> Bool {
        guard let folder = directories[.memory] else { return false }
        guard version == 2 else { return ControlFile.write("\(bytes)", to: "\(folder)/memory.limit_in_bytes") }
        // Otherwise version 2 would swap out memory beyond the limit.
        _ = ControlFile.write("0", to: "\(folder)/memory.swap.max")
        return ControlFile.write("\(bytes)", to: "\(folder)/memory.max")
    }

    /// Sets the limit of processes and threads.
    ///
    /// - Returns: whether the kernel accepted it.
    func limit(tasks: Int) -> Bool {
        guard let folder = directories[.tasks] else { return false }
        return ControlFile.write("\(tasks)", to: "\(folder)/pids.max")
    }

    /// Removes the group after its processes have ended.
    ///
    /// - Returns: false if the group is not empty yet, which may be so for a moment after their end.
    public func remove() -> Bool {
        var isGone = true
        for folder in folders where rmdir(folder) != 0 && errno == EBUSY { isGone = false }
        return isGone
    }

    /// Kills all processes of the group. Does not wait.
    public func killAll() {
        for folder in folders where !ControlFile.write("1", to: "\(folder)/cgroup.kill") {
            // Prevents new processes that the list would miss.
            _ = ControlFile.write("0", to: "\(folder)/pids.max")
            for word in (ControlFile.read("\(folder)/cgroup.procs") ?? "").split(separator: "\n") {
                if let pid = Int32(word), pid > 0 { kill(pid, SIGKILL) }
            }
        }
    }

    /// Whether the kernel has killed a process of the group for lack of memory.
    public var hasKilled: Bool {
        guard let folder = directories[.memory] else { return false }
        for file in ["memory.events", "memory.oom_control"] {
            guard let text = ControlFile.read("\(folder)/\(file)") else { continue }
            for line in text.split(separator: "\n") where line.hasPrefix("oom_kill ") { return line != "oom_kill 0" }
        }
        return false
    }
}
