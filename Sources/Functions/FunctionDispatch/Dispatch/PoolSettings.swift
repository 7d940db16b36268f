import FunctionWorker

/// The number of a pool's workers, and the limits of each.
package struct PoolSettings: Hashable, Sendable {
    var concurrency: Int
    var instancesMin: Int
    var instancesMax: Int
    var memoryBytes: UInt64
    /// Whether workers are processes. Otherwise the plugin is loaded into the host's own process.
    var isIsolated: Bool
    /// Environment entries, `NAME=value`: params, declared secrets, and the variables of every function.
    var environment: [String]
    /// The requests that functions may send to other servers.
    var outgoing: OutgoingPolicy

    package init(
        concurrency: Int, instancesMin: Int, instancesMax: Int, memoryBytes: UInt64, isIsolated: Bool, environment: [String],
        outgoing: OutgoingPolicy = OutgoingPolicy()
    ) {
        self.concurrency = concurrency
        self.instancesMin = instancesMin
        self.instancesMax = instancesMax
        self.memoryBytes = memoryBytes
        self.isIsolated = isIsolated
        self.environment = environment
        self.outgoing = outgoing
    }
}

/// The limits that are the same for all pools of a host.
package struct PoolLimits: Sendable {
    package var queueLengthMax = 1000
    /// The longest waiting time of an invocation while the queue is not congested.
    package var queueWaitMilliseconds: UInt64 = 10_000
    package var idleMilliseconds: UInt64 = 300_000
    package var restartLimit = 10
    package var restartWindowSeconds = 60.0
    package var blockedLoopMilliseconds: UInt64 = 1000
    package var drainMilliseconds: UInt64 = 10_000
    package var openFiles = 1024
    package var logBytesPerSecond = 1 << 20
    /// The most processes and threads of a worker.
    package var tasks = 256
    /// The most bytes in the folder of a plugin's workers.
    package var folderBytes = 128 << 20
    /// Additional files and folders that workers may read.
    package var readable: [String] = []
    /// Whether the sandbox denies workers the files and system calls that no function needs.
    package var isSandboxed = true

    /// Whether callers get the cause of a crash. For development mode only.
    package var tellsCallersOfCrashes = false
    /// The memory of crashed workers to keep; nil for none.
    package var coreDumps: CoreDumpLimits?

    /// The defaults.
    package init() {}
}

/// Limits of core dumps.
package struct CoreDumpLimits: Sendable {
    /// The most bytes of one; the rest is cut off.
    package var bytesMax: Int
    /// The newest ones to keep.
    package var countMax: Int

    package init(bytesMax: Int, countMax: Int) {
        self.bytesMax = bytesMax
        self.countMax = countMax
    }
}
