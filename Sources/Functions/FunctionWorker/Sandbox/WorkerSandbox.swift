import CLinux
import Glibc

/// What a worker can reach from before its plugin's first instruction on: the system's programs and libraries, the few settings that name
/// resolution, time zones, certificates and users need, its library and what the configuration adds to read; its own folder to write. Not
/// the host's data and configuration, nor other plugins' secrets, nor other processes.
public enum WorkerSandbox {
    /// Names the newest version of Landlock that is made use of. For tests, which have one kernel only.
    public static let versionVariable = "HEARTH_LANDLOCK_VERSION_MAX"

    /// Files and folders of one worker, besides the system's own.
    struct Grant {
        /// The library, which the plugin may want to read again.
        var artifact: String
        /// The worker's own folder.
        var directory: String
        /// Files and folders that the configuration names.
        var readable: [String]
    }

    /// Why a worker must not load its plugin.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Settings of the system. A rule holds for a file, not for its name: the host replaces its workers when one of these is replaced.
    public static let systemFiles = [
        // Names of hosts, services and users.
        "hosts", "host.conf", "resolv.conf", "nsswitch.conf", "gai.conf", "services", "protocols", "networks", "passwd", "group",
        "localtime", "timezone", "ld.so.cache", "ssl/openssl.cnf", "ssl/cert.pem", "os-release", "mime.types",
    ].map { "/etc/\($0)" }

    private static let systemFolders = [
        "/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin",
        // Certificates, not their private keys, as Debian, Fedora and Alpine keep them.
        "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates",
        // Possible targets of the link /etc/resolv.conf.
        "/run/systemd/resolve", "/run/resolvconf",
        "/sys/devices/system/cpu",
        // Figures of the machine. The worker's own process is held below; those of others are not told of.
        "/proc/sys", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/filesystems",
    ]
    private static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]

    /// The version of Landlock that workers use; 0 where the kernel has none.
    public static var version: Int32 {
        let most = getenv(versionVariable).flatMap { Int32(String(cString: $0)) } ?? .max
        return min(linux_landlock_version(), most)
    }

    /// Describes the gaps and side effects of this kernel's sandbox, for the log.
    public static func missing(version: Int32) -> [String] {
        if version == 0 { return ["there is no Landlock, so that workers read and write all that the host's user may"] }
        var missing: [String] = []
        if version < 3 { missing.append("workers cannot truncate files by their path") }
        if version < 4 { missing.append("workers can listen on any port") }
        if version < 6 { missing.append("workers can reach abstract sockets, and cannot signal what they have started") }
        return missing
    }

    /// Lets this process read below `readable`, and nothing else.
    ///
    /// - Returns: whether the kernel could do all of it.
    static func enterReadOnly(readable: [String]) -> Bool {
        let version = Self.version
        return withCStrings(readable) { readable in withCStrings(["/dev/null"]) { linux_restrict_files(version, readable, $0) } } == 0
            && linux_deny_system_calls(version) == 0
    }

    /// Closes the sandbox around this process, which must have one thread only; there is no way back.
    ///
    /// - Parameter version: of Landlock, as ``version``.
    static func enter(_ grant: Grant, landlockVersion version: Int32) throws(Failure) {
        let threads = linux_thread_count()
        // Landlock holds for the calling thread and what it starts.
        guard threads == 1 else { throw Failure(description: "there are \(threads) threads already") }
        // Without this, the kernel may forget the folder of this process while nobody uses it, and with it that it may be read.
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

/// What a worker process gives up before the plugin's code runs.
enum WorkerConfinement {
    /// Ties this process to its host and drops what it does not need. Called first of all.
    ///
    /// - Parameter host: the process id of the host; a worker whose host has already gone ends here.
    static func enter(host: Int32, openFiles: UInt64) {
        _ = linux_die_with_parent()
        if getppid() != host { _exit(1) }
        _ = linux_set_no_new_privileges()
        _ = linux_close_from(UInt32(WorkerDescriptor.page + 1))
        // What the plugin starts must not hold the host's sockets.
        for descriptor in [WorkerDescriptor.channel, WorkerDescriptor.log, WorkerDescriptor.page] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        limit(__rlimit_resource_t(RLIMIT_CORE.rawValue), to: 0)
        limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), to: openFiles)
        // The host may go before others; what it runs may not.
        limit(__rlimit_resource_t(__RLIMIT_NICE.rawValue), to: 0)
        // A connection that is gone, or a file as large as may be, is an error of the call and not the end.
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    }

    /// Limits heap and other private memory to `bytes`, where no control group does.
    static func limitMemory(_ bytes: UInt64) {
        limit(__rlimit_resource_t(RLIMIT_DATA.rawValue), to: bytes)
    }

    /// Limits the size of a file that is written.
    static func limitFiles(_ bytes: UInt64) {
        limit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), to: bytes)
    }

    /// Keeps processes and threads from growing without end, where no control group counts those of a worker.
    ///
    /// This limit counts everything of the user, but for root, who has none: the host's other workers and, on a developer's machine, a
    /// whole desktop. So it is generous.
    static func limitTasks(_ tasks: UInt64) {
        // Running and all, as `0.00 0.01 0.05 1/234 5678`.
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

/// The descriptors that a worker is born with, beside the standard three.
public enum WorkerDescriptor {
    /// The Unix socket to the host.
    public static let channel: Int32 = 3
    /// Where log records go.
    public static let log: Int32 = 4
    /// The memory of its ``WorkerPage``; closed once it is mapped.
    public static let page: Int32 = 5
}
