public import Metrics

/// What the store of messages counts: plain numbers, on its thread only.
public struct StoreFigures: Sendable {
    private var deliveries: [DeliveryOutcome: Int] = [:]
    /// Those of the transaction that is not durable yet.
    private var unsaved: [DeliveryOutcome: Int] = [:]
    private var unsavedSends = 0

    /// How many sends shared a transaction.
    public private(set) var batches = SizeHistogram()
    /// How long transactions with sends took to become durable.
    public private(set) var commits = DurationHistogram()
    /// Devices that are connected.
    public internal(set) var connectedDevices = 0
    /// Messages that wait for a device; one for each of its devices.
    public internal(set) var pendingMessages = 0
    /// Messages to many of which not all receivers are known yet.
    public internal(set) var fanOuts = 0
    /// What push services have been handed and have not answered.
    public internal(set) var forwarding = 0

    /// Nothing was done yet.
    public init() {}

    /// How many messages came to this at a device.
    public func count(_ outcome: DeliveryOutcome) -> Int { deliveries[outcome] ?? 0 }

    mutating func add(_ outcome: DeliveryOutcome) { unsaved[outcome, default: 0] += 1 }
    mutating func addSend() { unsavedSends += 1 }

    /// Whether this turn's transaction has sends.
    var hasSends: Bool { unsavedSends > 0 }

    /// The transaction is durable, after so many nanoseconds.
    mutating func didCommit(nanoseconds: UInt64) {
        if hasSends {
            commits.record(nanoseconds: nanoseconds)
            batches.record(unsavedSends)
        }
        for (outcome, count) in unsaved { deliveries[outcome, default: 0] += count }
        forgetUnsaved()
    }

    /// The transaction was taken back.
    mutating func didFail() { forgetUnsaved() }

    private mutating func forgetUnsaved() {
        if !unsaved.isEmpty { unsaved = [:] }
        unsavedSends = 0
    }
}
