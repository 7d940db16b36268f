import Glibc

/// The control groups that can be made on this machine: version 2 below the host's own group if it is delegated (`Delegate=` of a systemd
/// unit, a container), otherwise at the root; otherwise version 1.
public struct ControlGroups: Sendable, Equatable {
    /// The resources that can be limited for a worker and its descendants.
    public enum Controller: String, Sendable, CaseIterable {
        /// Memory, in bytes.
        case memory
        /// Processes and threads.
        case tasks = "pids"
    }

    /// The version of the kernel's interface; 0 if no groups can be made.
    public let version: Int
    /// The parent folder of worker groups for each available controller; with version 2 they are the same.
    public let folders: [Controller: String]

    /// The environment variable that passes the host's groups to workers, as ``encoded``.
    static let variable = "HEARTH_CONTROL_GROUPS"
    /// The group of the host itself: in version 2 only leaf groups may contain processes.
    private static let hostGroup = "hearth-host"

    /// No groups.
    static let none = ControlGroups(version: 0, folders: [:])

    private init(version: Int, folders: [Controller: String]) {
        self.version = version
        self.folders = folders
    }

    /// A description for the log.
    public var description: String { version == 0 ? "limits of each process" : "cgroup v\(version)" }

    /// Detects usable groups by creating some.
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

    /// Whether groups can probably be made here. Unlike ``detect(hostPID:)``, changes nothing.
    public static var areLikely: Bool {
        for root in [ownGroup, "/sys/fs/cgroup"] {
            guard let root, let controllers = ControlFile.read("\(root)/cgroup.controllers")?.split(whereSeparator: \.isWhitespace) else { continue }
            let hasAll = Controller.allCases.allSatisfy { controllers.contains(Substring($0.rawValue)) }
            if hasAll, access("\(root)/cgroup.procs", W_OK) == 0 { return true }
        }
        return Controller.allCases.contains { access("/sys/fs/cgroup/\($0.rawValue)/cgroup.procs", W_OK) == 0 }
    }

    /// The group that the host is in, or was in before it moved to ``hostGroup``.
    private static var ownGroup: String? {
        guard let text = ControlFile.read("/proc/self/cgroup") else { return nil }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        var path = line.dropFirst(3)
        if path.hasSuffix("/\(hostGroup)") { path = path.dropLast(hostGroup.utf8.count + 1) }
        return "/sys/fs/cgroup\(path == "/" ? "" : path)"
    }

    /// Whether groups below `root` can be limited; enables the controllers if only that is missing.
    private static func delegates(_ root: String, _ hostPID: Int32) -> Bool {
        let files = ["memory.max", "pids.max"]
        if offers(root, files, hostPID) { return true }
        guard access("\(root)/cgroup.subtree_control", W_OK) == 0 else { return false }
        if ControlFile.write("+memory +pids", to: "\(root)/cgroup.subtree_control") { return offers(root, files, hostPID) }
        // The group contains processes. If not only the host, the group belongs to other programs too.
        guard errno == EBUSY, ControlFile.read("\(root)/cgroup.procs") == "\(hostPID)\n" else { return false }
        let home = "\(root)/\(hostGroup)"
        mkdir(home, 0o755)
        guard ControlFile.write("0", to: "\(home)/cgroup.procs") else { return false }
        if ControlFile.write("+memory +pids", to: "\(root)/cgroup.subtree_control"), offers(root, files, hostPID) { return true }
        _ = ControlFile.write("0", to: "\(root)/cgroup.procs")
        rmdir(home)
        return false
    }

    /// Whether a group created in `root` has these files.
    private static func offers(_ root: String, _ files: [String], _ hostPID: Int32) -> Bool {
        let probe = "\(root)/hearth-\(hostPID)-probe"
        guard mkdir(probe, 0o755) == 0 else { return false }
        defer { rmdir(probe) }
        return files.allSatisfy { access("\(probe)/\($0)", W_OK) == 0 }
    }

    /// Removes the groups of hosts that were killed, and kills the processes in them. Blocks.
    ///
    /// - Parameter hasOwn: whether groups with this process's id may belong to this process: it has started workers.
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
                // Before this process has created a group, one with its id belonged to an earlier process.
                guard Self.isGone(host) || host == getpid() && !hasOwn else { continue }
                let group = ControlGroup(version: version, directories: [.tasks: "\(folder)/\(name)"])
                for _ in 0..<50 where !group.remove() {
                    group.killAll()
                    usleep(2000)
                }
            }
        }
    }

    /// Whether the host has ended.
    private static func isGone(_ host: Int32) -> Bool { kill(host, 0) != 0 && errno == ESRCH }

    /// The group of the worker `pid`, existing or not; nil if there are no groups.
    public func group(of pid: Int32, hostPID: Int32) -> ControlGroup? {
        guard version > 0 else { return nil }
        return ControlGroup(version: version, directories: folders.mapValues { "\($0)/hearth-\(hostPID)-\(pid)" })
    }

    /// The value of ``variable``.
    public var encoded: String {
        let places = Controller.allCases.compactMap { controller in folders[controller].map { "\(controller.rawValue)=\($0)" } }
        return "\(Self.variable)=\(version):" + places.joined(separator: ":")
    }

    /// Reads the groups from the environment variable that the host has set.
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

/// Reads and writes control files of the kernel.
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
