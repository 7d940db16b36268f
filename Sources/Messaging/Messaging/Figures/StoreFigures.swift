public import Metrics

/// Metrics of the message store. Used on its thread only.
public struct StoreFigures: Sendable {
    private var deliveries: [DeliveryOutcome: Int] = [:]
    /// Outcomes in the current transaction, which is not durable yet.
    private var unsaved: [DeliveryOutcome: Int] = [:]
    private var unsavedSends = 0

    /// The number of sends per transaction.
    public private(set) var batches = SizeHistogram()
    /// The durations of commits of transactions with sends.
    public private(set) var commits = DurationHistogram()
    /// Connected devices.
    public internal(set) var connectedDevices = 0
    /// Messages that wait for a device; a message to several devices counts once for each.
    public internal(set) var pendingMessages = 0
    /// Messages to many devices whose receivers are not all known yet.
    public internal(set) var fanOuts = 0
    /// Messages that push services have been sent and have not answered.
    public internal(set) var forwarding = 0

    /// Figures of a new store.
    public init() {}

    /// The number of messages with this outcome at a device.
    public func count(_ outcome: DeliveryOutcome) -> Int { deliveries[outcome] ?? 0 }

    mutating func add(_ outcome: DeliveryOutcome) { unsaved[outcome, default: 0] += 1 }
    mutating func addSend() { unsavedSends += 1 }

    /// Whether the current transaction has sends.
    var hasSends: Bool { unsavedSends > 0 }

    /// Counts a commit that took so many nanoseconds.
    mutating func didCommit(nanoseconds: UInt64) {
        if hasSends {
            commits.record(nanoseconds: nanoseconds)
            batches.record(unsavedSends)
        }
        for (outcome, count) in unsaved { deliveries[outcome, default: 0] += count }
        forgetUnsaved()
    }

    /// Drops the counts of a transaction that was rolled back.
    mutating func didFail() { forgetUnsaved() }

    private mutating func forgetUnsaved() {
        if !unsaved.isEmpty { unsaved = [:] }
        unsavedSends = 0
    }
}
