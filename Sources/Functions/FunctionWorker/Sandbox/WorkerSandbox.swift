import CLinux
import Glibc

/// Restricts the files that a worker can reach before its plugin's first instruction. Readable: the system's programs and libraries,
/// settings for name resolution, time zones, certificates and users, the library, and paths of the configuration. Writable: the worker's
/// own folder. The host's data and configuration, secrets of other plugins, and other processes are out of reach.
public enum WorkerSandbox {
    /// Environment variable with the newest Landlock version to use. For tests, which have only one kernel.
    public static let versionVariable = "HEARTH_LANDLOCK_VERSION_MAX"

    /// The paths of one worker besides those of the system.
    struct Grant {
        /// The library, which the plugin may read again.
        var artifact: String
        /// The worker's own folder.
        var directory: String
        /// Paths from the configuration.
        var readable: [String]
    }

    /// The reason why a worker must not load its plugin.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Settings of the system. A rule applies to a file, not to its name: the host replaces its workers when one of these files is
    /// replaced.
    public static let systemFiles = [
        // Names of hosts, services and users.
        "hosts", "host.conf", "resolv.conf", "nsswitch.conf", "gai.conf", "services", "protocols", "networks", "passwd", "group",
        "localtime", "timezone", "ld.so.cache", "ssl/openssl.cnf", "ssl/cert.pem", "os-release", "mime.types",
    ].map { "/etc/\($0)" }

    private static let systemFolders = [
        "/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin",
        // Certificates (not private keys) on Debian, Fedora and Alpine.
        "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates",
        // Targets of the link /etc/resolv.conf.
        "/run/systemd/resolve", "/run/resolvconf",
        "/sys/devices/system/cpu",
        // Information about the machine. The worker's own process folder is added below; those of other processes are not readable.
        "/proc/sys", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/filesystems",
    ]
    private static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]

    /// The Landlock version that workers use; 0 if the kernel has none.
    public static var version: Int32 {
        let most = getenv(versionVariable).flatMap { Int32(String(cString: $0)) } ?? .max
        return min(linux_landlock_version(), most)
    }

    /// Describes the gaps and side effects of this kernel's sandbox, for the log.
    public static func missing(version: Int32) -> [String] {
        if version == 0 { return ["there is no Landlock, so workers can read and write all files that the host's user can"] }
        var missing: [String] = []
        if version < 3 { missing.append("workers cannot truncate files by their path") }
        if version < 4 { missing.append("workers can listen on any port") }
        if version < 6 { missing.append("workers can reach abstract sockets, and cannot signal the processes that they start") }
        return missing
    }

    /// Restricts this process to reading below `readable`.
    ///
    /// - Returns: whether the kernel supports all of it.
    static func enterReadOnly(readable: [String]) -> Bool {
        let version = Self.version
        return withCStrings(readable) { readable in withCStrings(["/dev/null"]) { linux_restrict_files(version, readable, $0) } } == 0
            && linux_deny_system_calls(version) == 0
    }

    /// Enters the sandbox. The process must have only one thread. Irreversible.
    ///
    /// - Parameter version: of Landlock, as ``version``.
    static func enter(_ grant: Grant, landlockVersion version: Int32) throws(Failure) {
        let threads = linux_thread_count()
        // Landlock applies to the calling thread and to threads that it starts.
        guard threads == 1 else { throw Failure(description: "there are \(threads) threads already") }
        // Keeps the inode of the process folder alive: otherwise the kernel may drop it, and with it the rule that allows reading.
        _ = linux_hold("/proc/self")
        let runtime = RuntimeFolders.open(of: grant.artifact)
        defer { for folder in runtime { close(folder) } }
        let readable = systemFolders + systemFiles + ["/proc/self", grant.artifact] + runtime.map { "/proc/self/fd/\($0)" } + grant.readable
        let files = withCStrings(readable) { readable in
            withCStrings(devices + [grant.directory]) { writable in linux_restrict_files(version, readable, writable) }
        }
        if files != -ENOSYS { try check(files, "files") }
        try check(linux_drop_capabilities(), "privileges")
        try check(linux_deny_system_calls(version), "system calls")
    }

    private static func check(_ result: Int32, _ what: StaticString) throws(Failure) {
        guard result == 0 else { throw Failure(description: "\(what) cannot be restricted: \(String(cString: strerror(-result)))") }
    }

    private static func withCStrings<R>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer<CChar>($0) } + [nil]
        return pointers.withUnsafeBufferPointer { list in
            guard let base = list.baseAddress else { preconditionFailure("a list with its end in it is not empty") }
            return body(base)
        }
    }
}

/// Limits and privileges that a worker process drops before the plugin's code runs.
enum WorkerConfinement {
    /// Ties this process to its host and drops unneeded privileges. Called first.
    ///
    /// - Parameters:
    ///   - host: the process id of the host; exits if the host has already ended.
    ///   - lanes: the number of the worker's sockets to loops of the host.
    ///   - coreBytes: the most bytes of a core dump.
    static func enter(host: Int32, openFiles: UInt64, lanes: Int, coreBytes: UInt64) {
        _ = linux_die_with_parent()
        if getppid() != host { _exit(1) }
        _ = linux_set_no_new_privileges()
        let end = WorkerDescriptor.lanes + Int32(lanes - 1)
        _ = linux_close_from(UInt32(end))
        // Programs that the plugin starts must not inherit the host's sockets.
        for descriptor in WorkerDescriptor.channel..<end { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        limit(__rlimit_resource_t(RLIMIT_CORE.rawValue), to: coreBytes)
        limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), to: openFiles)
        // The host may raise its priority; its workers may not.
        limit(__rlimit_resource_t(__RLIMIT_NICE.rawValue), to: 0)
        // A closed connection and a file at its size limit are errors of the call, not fatal signals.
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    }

    /// Limits heap and other private memory to `bytes` where no control group does.
    static func limitMemory(_ bytes: UInt64) {
        limit(__rlimit_resource_t(RLIMIT_DATA.rawValue), to: bytes)
    }

    /// Limits the size of written files.
    static func limitFiles(_ bytes: UInt64) {
        limit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), to: bytes)
    }

    /// Limits processes and threads where no control group does.
    ///
    /// This limit counts all processes of the user (root has none): the host's other workers and, on a developer's machine, the whole
    /// desktop. So it is generous.
    static func limitTasks(_ tasks: UInt64) {
        // The field "running/total" of `0.00 0.01 0.05 1/234 5678`.
        guard let text = ControlFile.read("/proc/loadavg"), let counts = text.split(separator: " ").dropFirst(3).first,
            let all = counts.split(separator: "/").last.flatMap({ UInt64($0) })
        else { return }
        limit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), to: all + 16 * tasks)
    }

    private static func limit(_ resource: __rlimit_resource_t, to value: UInt64) {
        var limits = rlimit()
        getrlimit(resource, &limits)
        limits.rlim_cur = min(UInt(value), limits.rlim_max)
        limits.rlim_max = limits.rlim_cur
        setrlimit(resource, &limits)
    }
}

/// The descriptors of a new worker besides the standard three.
public enum WorkerDescriptor {
    /// The Unix socket to the host's home loop: the first lane.
    public static let channel: Int32 = 3
    /// The descriptor for log records.
    public static let log: Int32 = 4
    /// The memory of its ``WorkerPage``; closed once it is mapped.
    public static let page: Int32 = 5
    /// The first of the Unix sockets to the host's further loops.
    public static let lanes: Int32 = 6
}
