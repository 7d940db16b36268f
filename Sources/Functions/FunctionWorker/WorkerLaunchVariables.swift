import Glibc

/// Settings that a host passes to a worker in its environment, before the worker gets a plugin.
public struct WorkerLaunchVariables: Sendable {
    /// The host's process id; the worker ends with it.
    public var hostPID: Int32
    /// Limit of open files.
    public var openFiles: Int
    /// Limit of processes and threads.
    public var tasks: Int
    /// Limit of the size of a written file, in a sandbox.
    public var folderBytes: Int
    /// The Landlock version to use; 0 for none.
    public var landlockVersion: Int32
    /// The number of lanes: one to each loop of the host. The first is ``WorkerDescriptor/channel``.
    public var lanes = 1
    /// The most bytes of a core dump; 0 for none.
    public var coreBytes = 0
    /// The parent of the worker's control group.
    public var groups: ControlGroups

    /// Settings for every worker of a host.
    public init(hostPID: Int32, openFiles: Int, tasks: Int, folderBytes: Int, landlockVersion: Int32, groups: ControlGroups) {
        self.hostPID = hostPID
        self.openFiles = openFiles
        self.tasks = tasks
        self.folderBytes = folderBytes
        self.landlockVersion = landlockVersion
        self.groups = groups
    }

    private static let hostName = "HEARTH_HOST_PID"
    private static let filesName = "HEARTH_OPEN_FILES"
    private static let tasksName = "HEARTH_TASKS"
    private static let folderName = "HEARTH_FOLDER_BYTES"
    private static let landlockName = "HEARTH_LANDLOCK_VERSION"
    private static let lanesName = "HEARTH_LANES"
    private static let coreName = "HEARTH_CORE_BYTES"

    /// The entries of the environment.
    public var entries: [String] {
        [
            "\(Self.hostName)=\(hostPID)", "\(Self.filesName)=\(openFiles)", "\(Self.tasksName)=\(tasks)", "\(Self.folderName)=\(folderBytes)",
            "\(Self.landlockName)=\(landlockVersion)", "\(Self.lanesName)=\(lanes)", "\(Self.coreName)=\(coreBytes)", groups.encoded,
        ]
    }

    /// Reads the settings from the environment. A host id of 0 means none.
    static func given() -> WorkerLaunchVariables {
        var given = WorkerLaunchVariables(
            hostPID: number(hostName) ?? 0, openFiles: number(filesName) ?? 1024, tasks: number(tasksName) ?? 256,
            folderBytes: number(folderName) ?? 0, landlockVersion: number(landlockName) ?? 0, groups: .given())
        given.lanes = min(max(number(lanesName) ?? 1, 1), WorkerPage.lanesMax)
        given.coreBytes = max(number(coreName) ?? 0, 0)
        return given
    }

    /// Removes the settings from the environment, which the plugin sees.
    static func forget() {
        for name in [hostName, filesName, tasksName, folderName, landlockName, lanesName, coreName, ControlGroups.variable] { unsetenv(name) }
    }

    private static func number<T: FixedWidthInteger>(_ name: String) -> T? { getenv(name).flatMap { T(String(cString: $0)) } }
}
