/// What the host runs with: the contents of `functions.json`, checked, with every default filled in.
///
/// `functions.schema.json` is the manual of the file and the source of its defaults. Relative paths have been joined to the folder
/// of the file.
public struct Configuration: Sendable {
    /// The file as it was named.
    public var file: String
    /// The folder that relative paths of the file start at.
    public var directory: String
    public var mode: Mode
    public var project: String
    public var region: String
    public var server: ServerSettings
    /// In written order, each name once.
    public var plugins: [PluginSettings]
    /// Options for all functions that name none themselves.
    public var defaults: FunctionOverrides
    /// Options of single functions, by their name.
    public var functions: [String: FunctionOverrides]
    public var workers: WorkerSettings
    public var auth: TokenSettings
    public var appCheck: TokenSettings
    public var database: DatabaseSettings
    public var messaging: MessagingSettings
    public var logging: LoggingSettings
    public var watch: WatchSettings
    /// What is doubtful and does not keep the host from starting.
    public var warnings: [Problem]
    /// The document as it was read, for whom needs what was written and not only what it means.
    public var document: [UInt8] = []

    /// Whom the host runs for. Development trusts unsigned emulator tokens and sets `FUNCTIONS_EMULATOR` for plugins.
    public enum Mode: String, Sendable, CaseIterable {
        case development
        case production
    }
}

/// Where the host listens and what it takes from a connection.
public struct ServerSettings: Sendable, Equatable {
    public var host: String
    /// 0 takes any free port.
    public var port: Int
    /// Number of event loops.
    public var loops: Int
    public var connectionsMax: Int
    public var tls: TLSSettings?
    public var limits: ServerLimits
}

/// Paths of two PEM files.
public struct TLSSettings: Sendable, Equatable {
    public var certificate: String
    public var key: String
}

public struct ServerLimits: Sendable, Equatable {
    public var headerBytes: Int
    public var bodyBytes: Int
    public var headerSeconds: Double
    public var bodySeconds: Double
    public var idleSeconds: Double
}

/// One plugin of `plugins`.
public struct PluginSettings: Sendable, Equatable {
    public enum Source: Sendable, Equatable {
        /// A dynamic library product of the package in `Configuration.directory`.
        case product(String)
        /// Path of the shared object.
        case library(String)
    }

    public enum Isolation: String, Sendable {
        case process
        case none
    }

    public var name: String
    public var source: Source
    public var isolation: Isolation
    /// The folder with the plugin's environment files.
    public var environmentDirectory: String

    public init(name: String, source: Source, isolation: Isolation, environmentDirectory: String) {
        self.name = name
        self.source = source
        self.isolation = isolation
        self.environmentDirectory = environmentDirectory
    }
}

public struct WorkerSettings: Sendable, Equatable {
    public var idleSeconds: Double
    public var queueLengthMax: Int
    public var queueWaitMilliseconds: Int
    public var restartLimit: Int
    public var restartWindowSeconds: Double
    /// Workers kept started without a plugin: 0 or 1.
    public var prewarmed: Int
    public var drainSeconds: Double
    public var blockedLoopSeconds: Double
    public var logBytesPerSecond: Int
    public var openFiles: Int
    /// Whether workers are kept from files and system calls that functions do not need.
    public var sandbox: Bool
}

/// Which tokens of one kind are trusted.
public struct TokenSettings: Sendable, Equatable {
    public enum Keys: Sendable, Equatable {
        case jwksURL(String)
        case certificatesURL(String)
        case jwksFile(String)
        case certificatesFile(String)
    }

    /// What `iss` must be; for App Check without a project number, what it must start with.
    public var issuer: String
    /// Number of the project, for App Check only.
    public var projectNumber: String?
    public var keys: Keys
    public var clockSkewSeconds: Double
}

/// How plugins are built that are products of the package.
public struct WatchSettings: Sendable, Equatable {
    public enum BuildConfiguration: String, Sendable, CaseIterable {
        case release, debug
    }

    public var configuration: BuildConfiguration
}

public struct LoggingSettings: Sendable, Equatable {
    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    public var level: Level
    /// Whether the beginning and the end of each invocation are told; nil for what suits mode and terminal.
    public var invocations: Bool?
    public var store: LogStoreSettings
}

/// How much of the log is kept.
public struct LogStoreSettings: Sendable, Equatable {
    public var bytes: Int
    public var days: Double
}
