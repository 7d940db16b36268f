/// Limits that every pool of a host shares.
struct PoolLimits: Sendable {
    var queueLengthMax = 1000
    /// How long an invocation may wait for a worker while the queue is healthy.
    var queueWaitMilliseconds: UInt64 = 10_000
    var idleMilliseconds: UInt64 = 300_000
    var restartLimit = 10
    var restartWindowSeconds = 60.0
    var blockedLoopMilliseconds: UInt64 = 1000
    var drainMilliseconds: UInt64 = 10_000
    var openFiles = 1024
    var logBytesPerSecond = 1 << 20
    /// Processes and threads of a worker.
    var tasks = 256
    /// The most bytes in the folder of a plugin's workers.
    var folderBytes = 128 << 20
    /// Further files and folders that workers may read.
    var readable: [String] = []
    /// Whether workers are kept from files and system calls that no function needs.
    var isSandboxed = true
}
