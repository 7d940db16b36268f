import Files
import Glibc

/// The kernel's figures of this process. Read from files, so not to be used on a loop.
struct ProcessFigures: Sendable {
    /// Processor time in seconds.
    var cpuSeconds = 0.0
    var residentBytes = 0
    var virtualBytes = 0
    var openFiles = 0
    var openFilesMax = 0
    var threads = 0
    /// In seconds since 1970.
    var startSeconds = 0.0

    static func read() -> ProcessFigures {
        var figures = ProcessFigures()
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        figures.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        // The command's name may hold spaces: what follows its bracket is counted.
        let words = text("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
        if words.count > 21 {
            figures.threads = Int(words[17]) ?? 0
            figures.virtualBytes = Int(words[20]) ?? 0
            figures.residentBytes = (Int(words[21]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
            let boot = text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) } ?? 0
            figures.startSeconds = boot + (Double(words[19]) ?? 0) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        figures.openFilesMax = Int(clamping: limit.rlim_cur)
        figures.openFiles = countEntries("/proc/self/fd")
        return figures
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }

    private static func text(_ path: String) -> String { (try? WholeFile.readText(path, sizeBytesMax: 1 << 20)) ?? "" }

    /// Without `.`, `..` and the descriptor that looking takes.
    private static func countEntries(_ path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = -3
        while readdir(directory) != nil { count += 1 }
        return max(0, count)
    }
}
