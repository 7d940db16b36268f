/// The configuration of a host: the checked contents of `functions.json`, with all defaults.
///
/// `functions.schema.json` is the manual of the file and the source of its defaults. Relative paths have been joined to the file's folder.
public struct Configuration: Sendable {
    /// The file, as named by the user.
    public var file: String
    /// The base folder of relative paths.
    public var directory: String
    /// Chosen on the command line, not in the file.
    public var mode: Mode
    /// Project id: part of every function's URL, and the audience of ID tokens.
    public var project: String
    /// Default region of functions; it only distinguishes URLs.
    public var region: String
    /// Addresses and limits of the server.
    public var server: ServerSettings
    /// In the order of the file; names are unique.
    public var plugins: [PluginSettings]
    /// Options of all functions that do not set them.
    public var defaults: FunctionOverrides
    /// Options of single functions, by name.
    public var functions: [String: FunctionOverrides]
    /// How worker processes are started, monitored and stopped.
    public var workers: WorkerSettings
    /// The trusted ID tokens of the `Authorization` header.
    public var auth: TokenSettings
    /// Sign-in, and the users of this host.
    public var identity: IdentitySettings
    /// The trusted tokens of the `X-Firebase-AppCheck` header.
    public var appCheck: TokenSettings
    /// The proofs that this host exchanges for App Check tokens.
    public var appExchange: AppExchangeSettings
    /// The Realtime Database of the project.
    public var database: DatabaseSettings
    /// Push messages to devices.
    public var messaging: MessagingSettings
    /// Schedules of functions.
    public var schedules: ScheduleSettings
    /// Traces and metrics for a collector; nil to send none.
    public var telemetry: TelemetryOptions?
    /// Requests of functions to other servers.
    public var http: OutgoingSettings
    /// The cache of functions.
    public var cache: CacheSettings
    /// Task queues of functions.
    public var tasks: TaskQueueSettings
    /// Crashes of functions.
    public var crashes: CrashSettings
    /// The log on standard error, and the stored log.
    public var logging: LoggingSettings
    /// The builds of products to use.
    public var watch: WatchSettings
    /// Warnings, which do not prevent the start.
    public var warnings: [Problem]
    /// The document as read, for code that needs its exact text.
    public var document: [UInt8] = []

    /// The purpose of the host. Development mode trusts unsigned emulator tokens and sets `FUNCTIONS_EMULATOR` for plugins.
    public enum Mode: String, Sendable, CaseIterable {
        case development
        case production
    }
}

/// Addresses of the server and limits of connections.
public struct ServerSettings: Sendable, Equatable {
    /// The listening address; 127.0.0.1 by default.
    public var host: String
    /// The port; 0 for any free one.
    public var port: Int
    /// Number of event loops, each a thread: 1 to 256.
    public var loops: Int
    /// Connections of one loop; a further one is answered 503.
    public var connectionsMax: Int
    /// Memory for clients and plugins in bytes; nil for a default that depends on the machine.
    public var memoryBytes: Int?
    /// Nil serves plain HTTP.
    public var tls: TLSSettings?
    /// Networks of proxies whose statements about clients are trusted: addresses, or ranges such as `10.0.0.0/8`.
    public var trustedProxies: [String]
    /// Limits of size and time for clients.
    public var limits: ServerLimits
    /// HTTP/2.
    public var http2: HTTP2Settings
}

/// HTTP/2, and limits for its connections.
public struct HTTP2Settings: Sendable, Equatable {
    /// Whether clients that ask for HTTP/2 get it.
    public var isEnabled: Bool
    /// Unfinished requests of one connection.
    public var streamsMax: Int
    /// Bytes of a body that a client may send before the host has taken them.
    public var windowBytes: Int
    /// Requests that a client may cancel at once.
    public var resetsMax: Int
}

/// Paths of two PEM files.
public struct TLSSettings: Sendable, Equatable {
    /// The server's certificate, followed by intermediate ones.
    public var certificate: String
    /// The certificate's private key, without a pass phrase.
    public var key: String
}

/// Limits of size and time for clients.
public struct ServerLimits: Sendable, Equatable {
    /// Request line and headers; more is answered 431.
    public var headerBytes: Int
    /// A body, after decompression; more is answered 413.
    public var bodyBytes: Int
    /// From the first byte of a request to the end of its headers; then 408.
    public var headerSeconds: Double
    /// The longest pause within a body; then 408.
    public var bodySeconds: Double
    /// How long a connection may be idle.
    public var idleSeconds: Double
}

/// One plugin of `plugins`.
public struct PluginSettings: Sendable, Equatable {
    /// The origin of a plugin.
    public enum Source: Sendable, Equatable {
        /// A dynamic library product of the package in `Configuration.directory`.
        case product(String)
        /// Path of the shared object.
        case library(String)
    }

    /// Where a plugin runs.
    public enum Isolation: String, Sendable {
        /// In worker processes.
        case process
        /// In the host, which a crash of the plugin ends.
        case none
    }

    /// The name in logs and for `deploy`.
    public var name: String
    /// The origin of the plugin.
    public var source: Source
    /// Worker processes by default.
    public var isolation: Isolation
    /// The folder with the plugin's environment files.
    public var environmentDirectory: String

    /// A plugin as described in the file, with joined paths.
    public init(name: String, source: Source, isolation: Isolation, environmentDirectory: String) {
        self.name = name
        self.source = source
        self.isolation = isolation
        self.environmentDirectory = environmentDirectory
    }
}

/// How worker processes are started, monitored and stopped.
public struct WorkerSettings: Sendable, Equatable {
    /// Idle time after which a worker beyond `minInstances` is stopped.
    public var idleSeconds: Double
    /// Waiting calls of one function; a further one is answered 429.
    public var queueLengthMax: Int
    /// The longest wait of a call; a tenth of it under overload.
    public var queueWaitMilliseconds: Int
    /// Crashes within the window, without an answer in between, after which a function's workers are not restarted for a minute.
    public var restartLimit: Int
    /// The window for ``restartLimit``.
    public var restartWindowSeconds: Double
    /// Workers started in advance without a plugin: 0 or 1.
    public var prewarmed: Int
    /// Time for calls in flight to finish before the worker is killed.
    public var drainSeconds: Double
    /// How long a worker's loop may be blocked before the worker is killed.
    public var blockedLoopSeconds: Double
    /// Output of one worker per second that is stored; more is only counted.
    public var logBytesPerSecond: Int
    /// Open files and sockets of one worker.
    public var openFiles: Int
    /// Processes and threads of one worker.
    public var tasks: Int
    /// Bytes in the folder of a plugin's workers.
    public var folderBytes: Int
    /// Further files and folders that workers may read.
    public var readable: [String]
    /// Whether workers run in the sandbox.
    public var sandbox: Bool
}

/// The trusted tokens of one kind.
public struct TokenSettings: Sendable, Equatable {
    /// The source of the keys that verify tokens.
    public enum Keys: Sendable, Equatable {
        /// A JSON Web Key Set, cached according to `Cache-Control`.
        case jwksURL(String)
        /// A JSON object of key ids and PEM certificates, cached likewise.
        case certificatesURL(String)
        /// Path of a JSON Web Key Set.
        case jwksFile(String)
        /// Path of a JSON object of key ids and PEM certificates.
        case certificatesFile(String)
    }

    /// The required `iss`; for App Check without a project number, its required beginning.
    public var issuer: String
    /// The project number, for App Check only.
    public var projectNumber: String?
    /// The source of the keys of another issuer; nil if only the host's own tokens are trusted.
    public var keys: Keys?
    /// The tolerated difference between the issuer's clock and the host's: 0 to 600.
    public var clockSkewSeconds: Double
}

/// How products of the package are built.
public struct WatchSettings: Sendable, Equatable {
    /// The argument of `swift build -c`.
    public enum BuildConfiguration: String, Sendable, CaseIterable {
        case release, debug
    }

    /// The configuration that `--watch` builds, and that is preferred if both libraries exist.
    public var configuration: BuildConfiguration
}

/// The log on standard error, and the stored log for `hearth functions:log`.
public struct LoggingSettings: Sendable, Equatable {
    /// Severities, the least severe first.
    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The least severity that is logged.
    public var level: Level
    /// Whether the start and end of each invocation are logged; nil for a default that depends on mode and terminal.
    public var invocations: Bool?
    /// Limits of the stored log.
    public var store: LogStoreSettings
}

/// Limits of the stored log.
public struct LogStoreSettings: Sendable, Equatable {
    /// Size of the stored log; the oldest lines are removed first.
    public var bytes: Int
    /// Age of stored lines; fractions of a day are allowed.
    public var days: Double
}
