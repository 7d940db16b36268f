/// What the host runs with: the contents of `functions.json`, checked, with every default filled in.
///
/// `functions.schema.json` is the manual of the file and the source of its defaults. Relative paths have been joined to the folder
/// of the file.
public struct Configuration: Sendable {
    /// The file as it was named.
    public var file: String
    /// The folder that relative paths of the file start at.
    public var directory: String
    /// Chosen on the command line, not in the file.
    public var mode: Mode
    /// Id of the project: part of every function's URL, and the audience of ID tokens.
    public var project: String
    /// Region of functions that name none; it only tells URLs apart.
    public var region: String
    /// Where the host listens, and how much it takes.
    public var server: ServerSettings
    /// In written order, each name once.
    public var plugins: [PluginSettings]
    /// Options for all functions that name none themselves.
    public var defaults: FunctionOverrides
    /// Options of single functions, by their name.
    public var functions: [String: FunctionOverrides]
    /// How the processes of plugins are started, watched and stopped.
    public var workers: WorkerSettings
    /// Which ID tokens of the `Authorization` header are trusted.
    public var auth: TokenSettings
    /// Which tokens of the `X-Firebase-AppCheck` header are trusted.
    public var appCheck: TokenSettings
    /// The Realtime Database of the project.
    public var database: DatabaseSettings
    /// Push messages to devices.
    public var messaging: MessagingSettings
    /// What is written to standard error, and what is kept of it.
    public var logging: LoggingSettings
    /// Which build of a product is taken.
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
    /// The address to listen on; 127.0.0.1 unless the file names another.
    public var host: String
    /// 0 takes any free port.
    public var port: Int
    /// Number of event loops, each a thread: 1 to 256.
    public var loops: Int
    /// Connections of one loop at one time; a further one is answered 503.
    public var connectionsMax: Int
    /// Bytes that the host may hold in memory for clients and plugins; nil for a default that depends on the machine.
    public var memoryBytes: Int?
    /// Nil serves plain HTTP.
    public var tls: TLSSettings?
    /// Networks of proxies that are believed where they name a client: addresses, or ranges such as `10.0.0.0/8`.
    public var trustedProxies: [String]
    /// What a client may send, and how slowly.
    public var limits: ServerLimits
}

/// Paths of two PEM files.
public struct TLSSettings: Sendable, Equatable {
    /// The server's certificate, followed by the intermediate ones.
    public var certificate: String
    /// The certificate's private key, without a pass phrase.
    public var key: String
}

/// How much and how slowly a client may send before it is refused.
public struct ServerLimits: Sendable, Equatable {
    /// Of a request's line and headers together; more is answered 431.
    public var headerBytes: Int
    /// Of a body, after inflating a compressed one; more is answered 413.
    public var bodyBytes: Int
    /// From a request's first byte to the end of its headers; then 408.
    public var headerSeconds: Double
    /// The longest pause within a body; then 408.
    public var bodySeconds: Double
    /// How long a connection stays open without a request.
    public var idleSeconds: Double
}

/// One plugin of `plugins`.
public struct PluginSettings: Sendable, Equatable {
    /// Where a plugin comes from.
    public enum Source: Sendable, Equatable {
        /// A dynamic library product of the package in `Configuration.directory`.
        case product(String)
        /// Path of the shared object.
        case library(String)
    }

    /// Whether a crash of the plugin is the host's too.
    public enum Isolation: String, Sendable {
        /// In worker processes of its own.
        case process
        /// Loaded into the host.
        case none
    }

    /// What logs and `deploy` call it.
    public var name: String
    /// One of the two, never both.
    public var source: Source
    /// Worker processes unless the file says otherwise.
    public var isolation: Isolation
    /// The folder with the plugin's environment files.
    public var environmentDirectory: String

    /// A plugin as the file would describe it, with paths that are joined already.
    public init(name: String, source: Source, isolation: Isolation, environmentDirectory: String) {
        self.name = name
        self.source = source
        self.isolation = isolation
        self.environmentDirectory = environmentDirectory
    }
}

/// How the processes that run the plugins are started, watched and stopped.
public struct WorkerSettings: Sendable, Equatable {
    /// Time without a call after which a worker above `minInstances` is stopped.
    public var idleSeconds: Double
    /// Calls that may wait for the workers of a function; a further one is answered 429.
    public var queueLengthMax: Int
    /// The longest wait of a call; under overload a tenth of it.
    public var queueWaitMilliseconds: Int
    /// Crashes within the window, with no answer in between, that give a function's workers up for a minute.
    public var restartLimit: Int
    /// The window in which ``restartLimit`` counts.
    public var restartWindowSeconds: Double
    /// Workers kept started without a plugin: 0 or 1.
    public var prewarmed: Int
    /// What calls in flight are given to end; then the worker is killed.
    public var drainSeconds: Double
    /// How long a worker may show no sign of life before it is killed.
    public var blockedLoopSeconds: Double
    /// Output of one worker that is kept in a second; what goes beyond is counted only.
    public var logBytesPerSecond: Int
    /// Files and sockets that one worker may have open.
    public var openFiles: Int
    /// Processes and threads that one worker may have.
    public var tasks: Int
    /// The most bytes in the folder of a plugin's workers.
    public var folderBytes: Int
    /// Files and folders that workers may read besides the system's own.
    public var readable: [String]
    /// Whether workers are kept from files and system calls that functions do not need.
    public var sandbox: Bool
}

/// Which tokens of one kind are trusted.
public struct TokenSettings: Sendable, Equatable {
    /// Where the keys come from that tokens are signed with.
    public enum Keys: Sendable, Equatable {
        /// A JSON Web Key Set, kept as long as its answer's `Cache-Control` says.
        case jwksURL(String)
        /// A JSON object of key ids and PEM certificates, kept likewise.
        case certificatesURL(String)
        /// Path of a JSON Web Key Set.
        case jwksFile(String)
        /// Path of a JSON object of key ids and PEM certificates.
        case certificatesFile(String)
    }

    /// What `iss` must be; for App Check without a project number, what it must start with.
    public var issuer: String
    /// Number of the project, for App Check only.
    public var projectNumber: String?
    /// Exactly one source.
    public var keys: Keys
    /// How far the issuer's clock may be from the host's: 0 to 600.
    public var clockSkewSeconds: Double
}

/// How plugins are built that are products of the package.
public struct WatchSettings: Sendable, Equatable {
    /// What `swift build -c` is given.
    public enum BuildConfiguration: String, Sendable, CaseIterable {
        case release, debug
    }

    /// What `--watch` builds, and whose library is taken where both are there.
    public var configuration: BuildConfiguration
}

/// What the host writes to standard error, and what it keeps for `hearth functions:log`.
public struct LoggingSettings: Sendable, Equatable {
    /// How severe a line is, from the least on.
    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The least severe level that is written.
    public var level: Level
    /// Whether the beginning and the end of each invocation are told; nil for what suits mode and terminal.
    public var invocations: Bool?
    /// How much of it stays in the data folder.
    public var store: LogStoreSettings
}

/// How much of the log is kept.
public struct LogStoreSettings: Sendable, Equatable {
    /// What all kept lines may take; the oldest go first.
    public var bytes: Int
    /// Lines that are older go when new ones come; a part of a day may be given.
    public var days: Double
}
