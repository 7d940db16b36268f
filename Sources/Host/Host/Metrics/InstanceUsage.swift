import Files
import Glibc

/// The processor time and the memory of worker processes, by artifact. Belongs to the home loop.
///
/// Processor time of a process counts as far as it was seen: what it used between the last look and its end is missing.
struct InstanceUsage {
    /// The sums of an artifact's instances.
    struct Sum {
        var cpuSeconds = 0.0
        var residentBytes = 0
    }

    /// A plugin, and the first digits of the hash of its library.
    struct ArtifactName: Hashable {
        var plugin: String
        var artifact: String
    }

    /// The figures of a process that the kernel has.
    struct Reading: Sendable {
        var pid: pid_t
        /// Distinguishes processes that have had the same id.
        var start: UInt64
        var cpuSeconds: Double
        var residentBytes: Int
    }

    private struct Known {
        var start: UInt64
        var cpuSeconds: Double
    }

    private(set) var sums: [ArtifactName: Sum] = [:]
    private var known: [pid_t: Known] = [:]

    /// Reads the figures of processes that the kernel has. Reads files, so not to be used on a loop.
    static func read(_ pids: [pid_t]) -> [Reading] {
        let tick = Double(sysconf(Int32(_SC_CLK_TCK)))
        let page = sysconf(Int32(_SC_PAGESIZE))
        return pids.compactMap { pid in
            // The command's name may hold spaces: what follows its bracket is counted.
            guard let text = try? WholeFile.readText("/proc/\(pid)/stat", sizeBytesMax: 4096),
                let words = text.split(separator: ")").last?.split(separator: " "), words.count > 21, let user = Double(words[11]),
                let system = Double(words[12]), let start = UInt64(words[19]), let pages = Int(words[21])
            else { return nil }
            return Reading(pid: pid, start: start, cpuSeconds: (user + system) / tick, residentBytes: pages * page)
        }
    }

    /// Adds what was used since the last look.
    ///
    /// - Parameter workers: the artifacts of the processes that run now.
    mutating func add(_ readings: [Reading], of workers: [pid_t: ArtifactName], artifacts: Set<ArtifactName>) {
        sums = sums.filter { artifacts.contains($0.key) }
        for artifact in artifacts { sums[artifact, default: Sum()].residentBytes = 0 }
        var seen: [pid_t: Known] = [:]
        for reading in readings {
            guard let artifact = workers[reading.pid] else { continue }
            let before = known[reading.pid].flatMap { $0.start == reading.start ? $0.cpuSeconds : nil } ?? 0
            sums[artifact, default: Sum()].cpuSeconds += max(0, reading.cpuSeconds - before)
            sums[artifact, default: Sum()].residentBytes += reading.residentBytes
            seen[reading.pid] = Known(start: reading.start, cpuSeconds: reading.cpuSeconds)
        }
        known = seen
    }
}
