import Configuration
import EventLoop
import FunctionDispatch
import HostCore
import HTTP
import Logs

extension LogFiles.Limits {
    init(_ settings: LogStoreSettings) { self.init(bytesMax: settings.bytes, ageSeconds: settings.days * 86400) }
}

extension PoolLimits {
    init(_ configuration: Configuration) {
        self.init()
        let (settings, crashes) = (configuration.workers, configuration.crashes)
        tellsCallersOfCrashes = configuration.mode == .development
        if crashes.coreDumps { coreDumps = CoreDumpLimits(bytesMax: crashes.coreDumpBytes, countMax: crashes.coreDumpsKept) }
        queueLengthMax = settings.queueLengthMax
        queueWaitMilliseconds = UInt64(settings.queueWaitMilliseconds)
        idleMilliseconds = UInt64(settings.idleSeconds * 1000)
        restartLimit = settings.restartLimit
        restartWindowSeconds = settings.restartWindowSeconds
        blockedLoopMilliseconds = UInt64(settings.blockedLoopSeconds * 1000)
        drainMilliseconds = UInt64(settings.drainSeconds * 1000)
        openFiles = settings.openFiles
        logBytesPerSecond = settings.logBytesPerSecond
        tasks = settings.tasks
        folderBytes = settings.folderBytes
        readable = settings.readable
        isSandboxed = settings.sandbox
    }
}

extension HTTPLimits {
    init(_ settings: ServerSettings, databaseBytesMax: Int) {
        self.init()
        connectionsMax = settings.connectionsMax
        headBytesMax = settings.limits.headerBytes
        // Each kind of request has a separate limit. This is the largest one.
        bodyBytesMax = max(settings.limits.bodyBytes, databaseBytesMax)
        headTimeoutMilliseconds = UInt64(settings.limits.headerSeconds * 1000)
        bodyTimeoutMilliseconds = UInt64(settings.limits.bodySeconds * 1000)
        idleTimeoutMilliseconds = UInt64(settings.limits.idleSeconds * 1000)
    }
}

extension HTTP2Limits {
    init(_ settings: HTTP2Settings) {
        self.init()
        streamsMax = settings.streamsMax
        windowBytes = settings.windowBytes
        resetsMax = settings.resetsMax
    }
}

extension NetworkRange {
    /// Parses the ranges of a setting.
    ///
    /// - Throws: `HostStartError` for an invalid one.
    static func list(_ texts: [String], of setting: String) throws(HostStartError) -> [NetworkRange] {
        var ranges: [NetworkRange] = []
        for text in texts {
            guard let range = NetworkRange(text) else {
                throw HostStartError(
                    "\(setting): \(text) is no address or range of addresses; expected one such as 192.0.2.1, 10.0.0.0/8 or fd00::/8")
            }
            ranges.append(range)
        }
        return ranges
    }
}
