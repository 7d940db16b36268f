import EventLoop
import Logging
import Rules
import Store

/// The settings with which a namespace is opened.
struct NamespaceSettings: Sendable {
    var name: String
    var limits: DatabaseLimits
    /// The rules of the configured file.
    var rulesFile: RulesFile?
    var log: Logger
    /// Called on the writer's thread with the events in the outbox, when the namespace is opened and after each commit with new events.
    var didRaiseEvents: @Sendable (EventAnnouncement) -> Void
    /// Counts long answers by namespace. Each of them holds a snapshot.
    var longAnswers: Seats<String>
    /// Counts long answers of all namespaces, by client.
    var longReads: Seats<NetworkAddress>
    /// The threads that inform listeners.
    var feedThreads: FeedThreads
    /// Identifies the run of the database, to which the sessions of its clients belong.
    var run: String
    /// Pauses reads on loops after slow ones.
    var readPause: ReadPause
    /// The profilers of the namespace.
    let profile = Profile()
}

/// The rules file that functions.json names.
public struct RulesFile: Sendable {
    /// The compiled rules.
    public var rules: RuleSet
    /// Identifies a content of the file, so that rules that were uploaded later stay in force until the file changes.
    public var mark: [UInt8]

    /// Creates a value from rules and the mark of their file.
    public init(rules: RuleSet, mark: [UInt8]) {
        self.rules = rules
        self.mark = mark
    }
}

extension TroubleReport {
    /// A report with the name of the namespace in each line.
    init(_ settings: NamespaceSettings) { self.init(settings.log, ["namespace": "\(settings.name)"]) }
}
