import CLinux
import Glibc

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
