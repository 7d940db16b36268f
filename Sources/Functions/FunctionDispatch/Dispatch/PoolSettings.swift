/// What decides how many workers a pool has and what each may do.
package struct PoolSettings: Hashable, Sendable {
    var concurrency: Int
    var instancesMin: Int
    var instancesMax: Int
    var memoryBytes: UInt64
    /// Loaded into the host's own process.
    var isIsolated: Bool
    /// `NAME=value` entries: params, the declared secrets and what every function sees.
    var environment: [String]

    package init(concurrency: Int, instancesMin: Int, instancesMax: Int, memoryBytes: UInt64, isIsolated: Bool, environment: [String]) {
        self.concurrency = concurrency
        self.instancesMin = instancesMin
        self.instancesMax = instancesMax
        self.memoryBytes = memoryBytes
        self.isIsolated = isIsolated
        self.environment = environment
    }
}

/// Limits that every pool of a host shares.
package struct PoolLimits: Sendable {
    package var queueLengthMax = 1000
    /// How long an invocation may wait for a worker while the queue is healthy.
    package var queueWaitMilliseconds: UInt64 = 10_000
    package var idleMilliseconds: UInt64 = 300_000
    package var restartLimit = 10
    package var restartWindowSeconds = 60.0
    package var blockedLoopMilliseconds: UInt64 = 1000
    package var drainMilliseconds: UInt64 = 10_000
    package var openFiles = 1024
    package var logBytesPerSecond = 1 << 20
    /// Processes and threads of a worker.
    package var tasks = 256
    /// The most bytes in the folder of a plugin's workers.
    package var folderBytes = 128 << 20
    /// Further files and folders that workers may read.
    package var readable: [String] = []
    /// Whether workers are kept from files and system calls that no function needs.
    package var isSandboxed = true

    /// The defaults.
    package init() {}
}
