/// The Realtime Database.
public struct DatabaseSettings: Sendable, Equatable {
    /// Where the data is kept.
    public enum Storage: String, Sendable {
        /// In files of the data folder.
        case sqlite
        /// In memory, until the host stops.
        case memory
    }

    /// Path of the security rules.
    public var rules: String?
    /// Files, unless the file says otherwise.
    public var storage: Storage
    /// The database of requests that name none.
    public var defaultNamespace: String
    /// The other databases that there are in production mode.
    public var namespaces: [String]
    /// How long a database stays open that nobody uses, at least.
    public var idleSeconds: Double
    /// What one request and all clients together may take.
    public var limits: Limits
    /// How writes run functions.
    public var triggers: TriggerSettings

    /// How much one request may read or change, and what clients may hold of the host together.
    public struct Limits: Sendable, Equatable {
        /// Of a write's body.
        public var writeBytes: Int
        /// Of an answer.
        public var readBytes: Int
        /// Of a rules document.
        public var rulesBytes: Int
        /// Event streams of one loop.
        public var streams: Int
        /// Bytes of large bodies that one loop takes in at a time.
        public var uploadBytes: Int
        /// Databases that are open at a time.
        public var openNamespaces: Int
        /// Long answers that are read from one database at a time.
        public var longReads: Int
        /// Long answers that one client reads at a time.
        public var longReadsPerClient: Int
        /// How long one of them may take.
        public var readSeconds: Double
        /// Bytes of a database's log of changes.
        public var logBytes: Int
    }
}

/// How writes run functions.
public struct TriggerSettings: Sendable, Equatable {
    /// The most functions that one write may run.
    public var functionsPerWrite: Int
    /// The largest event.
    public var eventBytes: Int
    /// Whether writes beyond the two limits are refused.
    public var isStrict: Bool
    /// How many events may cause each other.
    public var chainDepth: Int
    /// How many events that were given up a database keeps.
    public var deadLetters: Int
    /// What those take at most.
    public var deadLetterBytes: Int
    /// The time to the second attempt.
    public var retryMinSeconds: Double
    /// The longest time between two attempts.
    public var retryMaxSeconds: Double
    /// How old an event may become; nil for what its function's generation gives it.
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
            streams: field["streams"].int, uploadBytes: field["uploadBytes"].int,
            openNamespaces: field["openNamespaces"].int, longReads: field["longReads"].int,
            longReadsPerClient: field["longReadsPerClient"].int, readSeconds: field["readSeconds"].double, logBytes: field["logBytes"].int)
    }
}
