import Glibc

/// Settings that a host passes to a worker in its environment, before the worker has a plugin.
public struct WorkerLaunchVariables: Sendable {
    /// The process that the worker ends with.
    public var hostPID: Int32
    /// How many files it may have open.
    public var openFiles: Int
    /// How many processes and threads it may have.
    public var tasks: Int
    /// How large a file that it writes may be, where it is in a sandbox.
    public var folderBytes: Int
    /// The version of Landlock to make use of; 0 for none.
    public var landlockVersion: Int32
    /// The parent of its control group.
    public var groups: ControlGroups

    /// The settings of every worker of a host.
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

    /// As entries of an environment.
    public var entries: [String] {
        [
            "\(Self.hostName)=\(hostPID)", "\(Self.filesName)=\(openFiles)", "\(Self.tasksName)=\(tasks)", "\(Self.folderName)=\(folderBytes)",
            "\(Self.landlockName)=\(landlockVersion)", groups.encoded,
        ]
    }

    /// Reads the settings from the environment. A host id of 0 means none.
    static func given() -> WorkerLaunchVariables {
        WorkerLaunchVariables(
            hostPID: number(hostName) ?? 0, openFiles: number(filesName) ?? 1024, tasks: number(tasksName) ?? 256,
            folderBytes: number(folderName) ?? 0, landlockVersion: number(landlockName) ?? 0, groups: .given())
    }

    /// Takes them out of the environment, which is the plugin's.
    static func forget() {
        for name in [hostName, filesName, tasksName, folderName, landlockName, ControlGroups.variable] { unsetenv(name) }
    }

    private static func number<T: FixedWidthInteger>(_ name: String) -> T? { getenv(name).flatMap { T(String(cString: $0)) } }
}
