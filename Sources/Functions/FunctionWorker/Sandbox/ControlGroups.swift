import Glibc

/// Which control groups can be made on this machine, and where: of version 2 below the group that the host is in, where that is the host's
/// own (`Delegate=` of a systemd unit, a container), else at the root; else of version 1.
public struct ControlGroups: Sendable, Equatable {
    /// The resources that the kernel can limit for a worker and its children.
    public enum Controller: String, Sendable, CaseIterable {
        /// Memory, in bytes.
        case memory
        /// Processes and threads.
        case tasks = "pids"
    }

    /// The version of the kernel's interface; 0 where no groups can be made.
    public let version: Int
    /// The folder in which the group of a worker is made, for each controller that there is; of version 2 it is one.
    public let folders: [Controller: String]

    /// The variable that holds the host's groups, as ``encoded``.
    static let variable = "HEARTH_CONTROL_GROUPS"
    /// The group of the host itself: in version 2 only leaf groups hold processes.
    private static let hostGroup = "hearth-host"

    /// No groups.
    static let none = ControlGroups(version: 0, folders: [:])

    private init(version: Int, folders: [Controller: String]) {
        self.version = version
        self.folders = folders
    }

    /// In words, for the log.
    public var description: String { version == 0 ? "limits of each process" : "cgroup v\(version)" }

    /// Finds out what can be used, by making groups.
    public static func detect(hostPID: Int32) -> ControlGroups {
        for root in [ownGroup, "/sys/fs/cgroup"] {
            guard let root, delegates(root, hostPID) else { continue }
            return ControlGroups(version: 2, folders: [.memory: root, .tasks: root])
        }
        var folders: [Controller: String] = [:]
        for controller in Controller.allCases {
            let root = "/sys/fs/cgroup/\(controller.rawValue)"
            if offers(root, [controller == .memory ? "memory.limit_in_bytes" : "pids.max"], hostPID) { folders[controller] = root }
        }
        return ControlGroups(version: folders.isEmpty ? 0 : 1, folders: folders)
    }

    /// The group that the host is in, or was in before it moved to ``hostGroup``.
    private static var ownGroup: String? {
        guard let text = ControlFile.read("/proc/self/cgroup") else { return nil }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        var path = line.dropFirst(3)
        if path.hasSuffix("/\(hostGroup)") { path = path.dropLast(hostGroup.utf8.count + 1) }
        return "/sys/fs/cgroup\(path == "/" ? "" : path)"
    }

    /// Whether groups below `root` can be limited; sees to it where only that is missing.
    private static func delegates(_ root: String, _ hostPID: Int32) -> Bool {
        let files = ["memory.max", "pids.max"]
        if offers(root, files, hostPID) { return true }
        guard access("\(root)/cgroup.subtree_control", W_OK) == 0 else { return false }
        if ControlFile.write("+memory +pids", to: "\(root)/cgroup.subtree_control") { return offers(root, files, hostPID) }
        // It holds processes. Where others are among them, the group is theirs, too.
        guard errno == EBUSY, ControlFile.read("\(root)/cgroup.procs") == "\(hostPID)\n" else { return false }
        let home = "\(root)/\(hostGroup)"
        mkdir(home, 0o755)
        guard ControlFile.write("0", to: "\(home)/cgroup.procs") else { return false }
        if ControlFile.write("+memory +pids", to: "\(root)/cgroup.subtree_control"), offers(root, files, hostPID) { return true }
        _ = ControlFile.write("0", to: "\(root)/cgroup.procs")
        rmdir(home)
        return false
    }

    /// Whether a group that is made in `root` has these files.
    private static func offers(_ root: String, _ files: [String], _ hostPID: Int32) -> Bool {
        let probe = "\(root)/hearth-\(hostPID)-probe"
        guard mkdir(probe, 0o755) == 0 else { return false }
        defer { rmdir(probe) }
        return files.allSatisfy { access("\(probe)/\($0)", W_OK) == 0 }
    }

    /// Removes the groups that hosts left behind which were killed before they could, with what is still in them. Blocks.
    ///
    /// - Parameter hasOwn: whether groups of this process's number may be its own: it has started workers.
    public func removeAbandoned(hasOwn: Bool) {
        for folder in Set(folders.values) {
            guard let directory = opendir(folder) else { continue }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                let words = name.split(separator: "-")
                guard words.count == 3, words[0] == "hearth", let host = Int32(words[1]) else { continue }
                // One of this process's number was another process, before this one has made any group.
                guard Self.isGone(host) || host == getpid() && !hasOwn else { continue }
                let group = ControlGroup(version: version, directories: [.tasks: "\(folder)/\(name)"])
                for _ in 0..<50 where !group.remove() {
                    group.killAll()
                    usleep(2000)
                }
            }
        }
    }

    /// Whether there is no such host any more.
    private static func isGone(_ host: Int32) -> Bool { kill(host, 0) != 0 && errno == ESRCH }

    /// The group of the worker `pid`, whether it is there yet or not; nil where there are no groups.
    public func group(of pid: Int32, hostPID: Int32) -> ControlGroup? {
        guard version > 0 else { return nil }
        return ControlGroup(version: version, directories: folders.mapValues { "\($0)/hearth-\(hostPID)-\(pid)" })
    }

    /// As an entry of a worker's environment.
    public var encoded: String {
        let places = Controller.allCases.compactMap { controller in folders[controller].map { "\(controller.rawValue)=\($0)" } }
        return "\(Self.variable)=\(version):" + places.joined(separator: ":")
    }

    /// Reads the groups from the environment that the host has set.
    static func given() -> ControlGroups {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return .none }
        let words = text.split(separator: ":", omittingEmptySubsequences: true)
        var folders: [Controller: String] = [:]
        for word in words.dropFirst() {
            guard let mark = word.firstIndex(of: "="), let controller = Controller(rawValue: String(word[..<mark])) else { continue }
            folders[controller] = String(word[word.index(after: mark)...])
        }
        return ControlGroups(version: words.first.flatMap { Int($0) } ?? 0, folders: folders)
    }
}

/// The kernel's files of control groups, which are written and read whole.
enum ControlFile {
    static func write(_ text: String, to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        let written = Glibc.write(descriptor, text, text.utf8.count)
        let reason = errno
        close(descriptor)
        errno = reason
        return written == text.utf8.count
    }

    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            guard count >= 0 else { return nil }
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += room[..<count]
        }
    }
}
