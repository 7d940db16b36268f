import CLinux
import Configuration
import EventLoop
import Files
import FunctionDispatch
import FunctionWorker
import Glibc
import Schedules

/// The machine: clock, limits, memory, kernel, time zones.
extension HostExamination {
    /// Enough for a thousand connections, their databases and workers.
    private static let descriptorsWanted = 4096
    private static let backlogWanted = 512
    private static let watchersWanted = 64
    private static let watchesWanted = 4096

    mutating func examineClock() {
        let check = "clock"
        // The beginning of 2026: this program did not exist before.
        guard Glibc.time(nil) > 1_767_225_600 else {
            return fail(check, "the clock is years behind, so tokens and certificates are refused: set it, and install chrony")
        }
        switch linux_clock_is_synchronised() {
        case 1: ok(check, "the kernel's clock is synchronised")
        case 0:
            warn(
                check, "nothing keeps the kernel's clock exact, so valid tokens may be refused some day: install chrony or systemd-timesyncd, in a "
                    + "container on its machine")
        default: ok(check, "the kernel does not say whether its clock is synchronised")
        }
    }

    mutating func examineLimits() {
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        let files = Int(clamping: limits.rlim_max)
        let advice = "raise the hard limit (ulimit -Hn, or LimitNOFILE of the service)"
        if files < DescriptorLimit.least {
            fail("open files", "a host may have \(files) open files; at least \(DescriptorLimit.least) are needed: \(advice)")
        } else if files < Self.descriptorsWanted {
            warn("open files", "a host may have \(files) open files, too few for many connections: \(advice)")
        } else {
            ok("open files", "a host may have \(files)")
        }
        examineWatchers()
        guard let backlog = Self.setting("net/core/somaxconn") else { return }
        if backlog < Self.backlogWanted {
            warn("connections", "only \(backlog) new connections may wait in the kernel, further ones are dropped: sysctl net.core.somaxconn=4096")
        } else {
            ok("connections", "\(backlog) new connections may wait in the kernel")
        }
    }

    private mutating func examineWatchers() {
        let check = "file watches"
        let advice = "sysctl fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288"
        switch linux_probe_watch("/") {
        case -EMFILE: return fail(check, "this user has no inotify instance left, so changes of files are not seen: \(advice)")
        case -ENOSPC: return fail(check, "this user has no inotify watch left, so changes of files are not seen: \(advice)")
        default: break
        }
        let (instances, watches) = (Self.setting("fs/inotify/max_user_instances"), Self.setting("fs/inotify/max_user_watches"))
        if let instances, instances < Self.watchersWanted {
            warn(check, "a user may have \(instances) inotify instances only: \(advice)")
        }
        if let watches, watches < Self.watchesWanted { warn(check, "a user may have \(watches) inotify watches only: \(advice)") }
        settle(check, "changes of files are seen")
    }

    /// A number in `/proc/sys`.
    private static func setting(_ name: String) -> Int? {
        guard let bytes = try? WholeFile.read("/proc/sys/\(name)", sizeBytesMax: 64) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self))
    }

    mutating func examineMemory(_ configuration: Configuration, _ functions: [PluginFunction]) {
        let check = "memory"
        let available = MemoryBudget.availableBytes
        let own = configuration.server.memoryBytes ?? MemoryBudget.standardBytes
        func text(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
        guard own < available else {
            return fail(check, "server.memoryBytes is \(text(own)), and this machine or control group has \(text(available)): lower it")
        }
        for function in functions where function.options.memoryBytes + own > available {
            let needed = text(function.options.memoryBytes)
            fail(
                check, "\(function.name) may take \(needed), and this machine or control group has \(text(available)): lower its memory, or the "
                    + "kernel ends the host before the function's own limit holds")
        }
        // Functions of a plugin with the same options share instances; one instance of each plugin is the least.
        let always = Dictionary(grouping: functions, by: \.plugin).values.reduce(0) { sum, group in
            sum + (group.map { $0.options.memoryBytes * max($0.options.minInstances, 1) }.max() ?? 0)
        }
        if always + own > available {
            warn(
                check, "the plugins may take \(text(always)) with their least number of instances, and this machine or control group has "
                    + "\(text(available)): lower memory or minInstances")
        }
        settle(check, "\(text(available)), of which clients may take \(text(own))")
    }

    mutating func examineKernel() {
        let check = "kernel"
        if configuration?.workers.sandbox == false {
            warn(check, "workers.sandbox is off, so functions can read and write all files that the host's user can: turn it on")
        } else {
            for gap in WorkerSandbox.missing(version: WorkerSandbox.version) {
                warn(check, "\(gap); a newer kernel closes this gap (docs/production.md)")
            }
            if !linux_has_seccomp() {
                fail(check, "system calls cannot be filtered, so no worker starts: use a kernel with seccomp, or allow it in the container")
            }
        }
        if !linux_has_pidfd() { warn(check, "there are no pidfds, so ends of workers are noticed later: use Linux 5.3 or newer") }
        if !ControlGroups.areLikely {
            warn(
                check, "no control groups can be made, so the memory limit holds for each process of a worker only: run the host as the systemd "
                    + "service, which has Delegate=, or allow it in the container")
        }
        if configuration?.crashes.coreDumps == true, let obstacle = CorePattern.current.obstacle {
            warn(check, "crashes.coreDumps is on, and no core dump is kept: \(obstacle)")
        }
        if geteuid() == 0, subject.mode == .production {
            warn(check, "this is root: run the host as another user, so that workers are confined more")
        }
        settle(check, "workers are confined as far as they can be")
    }

    mutating func examineTimeZones() {
        do throws(ScheduleError) {
            _ = try TimeZones().zone(named: "America/Los_Angeles")
            ok("time zones", "the machine has them")
        } catch {
            fail("time zones", "schedules in other zones than UTC cannot run: apt install tzdata (\(error))")
        }
    }
}
