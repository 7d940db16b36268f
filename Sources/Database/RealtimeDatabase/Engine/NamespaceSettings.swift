import Logging
import Rules

/// What a namespace is opened with.
struct NamespaceSettings: Sendable {
    var name: String
    var limits: DatabaseLimits
    /// The rules of the configured file.
    var rulesFile: RulesFile?
    var log: Logger
    /// Told of what waits in the outbox, when it is opened and after each commit that put something there. Called on the writer's
    /// thread.
    var didRaiseEvents: @Sendable (EventAnnouncement) -> Void
    /// Counts long answers of all namespaces, by client.
    var longReads: LongReads
    /// Who profiles it.
    let profile = Profile()
}

/// The rules that functions.json names.
public struct RulesFile: Sendable {
    /// The compiled rules.
    public var rules: RuleSet
    /// Tells one content of the file from another, so that rules which were uploaded later stay until the file changes.
    public var mark: [UInt8]

    /// Rules and the mark of the file that they were read from.
    public init(rules: RuleSet, mark: [UInt8]) {
        self.rules = rules
        self.mark = mark
    }
}
