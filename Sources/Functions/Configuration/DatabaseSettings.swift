/// The Realtime Database.
public struct DatabaseSettings: Sendable, Equatable {
    /// The storage of the data.
    public enum Storage: String, Sendable {
        /// In files of the data directory.
        case sqlite
        /// In memory, until the host stops.
        case memory
    }

    /// The file of the security rules.
    public var rules: String?
    /// Files by default.
    public var storage: Storage
    /// The database for requests that name none.
    public var defaultNamespace: String
    /// Further databases that exist in production mode.
    public var namespaces: [String]
    /// The least time that an unused database stays open.
    public var idleSeconds: Double
    /// Threads that read one database; nil for the default.
    public var readers: Int?
    /// How long the keys of `once` are kept.
    public var onceSeconds: Double
    /// Whether requests of clients need a valid App Check token.
    public var enforceAppCheck: Bool
    /// Limits of requests and clients.
    public var limits: Limits
    /// Limits of database triggers.
    public var triggers: TriggerSettings

    /// Limits for one request, and for resources that clients hold together.
    public struct Limits: Sendable, Equatable {
        /// Bytes of a write's body.
        public var writeBytes: Int
        /// Bytes of an answer.
        public var readBytes: Int
        /// Bytes of a rules document.
        public var rulesBytes: Int
        /// Event streams of one loop.
        public var streams: Int
        /// Event streams of one database.
        public var streamsPerNamespace: Int
        /// Bytes of large bodies that one loop receives at the same time.
        public var uploadBytes: Int
        /// Databases open at the same time.
        public var openNamespaces: Int
        /// Long answers from one database at the same time.
        public var longReads: Int
        /// Long answers for one client at the same time.
        public var longReadsPerClient: Int
        /// Seconds for one long answer.
        public var readSeconds: Double
        /// Bytes of a database's write-ahead log.
        public var logBytes: Int
        /// Bytes of the results of queries that clients listen to.
        public var viewBytes: Int
    }
}

/// Limits of database triggers.
public struct TriggerSettings: Sendable, Equatable {
    /// Functions that one write may trigger.
    public var functionsPerWrite: Int
    /// Bytes of an event.
    public var eventBytes: Int
    /// Whether writes that exceed these two limits are refused.
    public var isStrict: Bool
    /// Length of a chain of events that trigger each other.
    public var chainDepth: Int
    /// Dead letters that a database keeps.
    public var deadLetters: Int
    /// Bytes of these dead letters.
    public var deadLetterBytes: Int
    /// Delay before the second attempt.
    public var retryMinSeconds: Double
    /// Longest delay between attempts.
    public var retryMaxSeconds: Double
    /// Maximum age of an event; nil for the default of the function's generation.
    public var retryAgeSeconds: Double?
}

extension ConfigurationReader {
    func triggers(_ field: Field) -> TriggerSettings {
        TriggerSettings(
            functionsPerWrite: field["functionsPerWrite"].int, eventBytes: field["eventBytes"].int, isStrict: field["strict"].bool,
            chainDepth: field["chainDepth"].int, deadLetters: field["deadLetters"].int, deadLetterBytes: field["deadLetterBytes"].int,
            retryMinSeconds: field["retryMinSeconds"].double, retryMaxSeconds: field["retryMaxSeconds"].double,
            retryAgeSeconds: field["retryAgeSeconds"].doubleIfPresent)
    }

    func limits(_ field: Field) -> DatabaseSettings.Limits {
        DatabaseSettings.Limits(
            writeBytes: field["writeBytes"].int, readBytes: field["readBytes"].int, rulesBytes: field["rulesBytes"].int,
            streams: field["streams"].int, streamsPerNamespace: field["streamsPerNamespace"].int, uploadBytes: field["uploadBytes"].int,
            openNamespaces: field["openNamespaces"].int, longReads: field["longReads"].int,
            longReadsPerClient: field["longReadsPerClient"].int, readSeconds: field["readSeconds"].double, logBytes: field["logBytes"].int,
            viewBytes: field["viewBytes"].int)
    }
}
