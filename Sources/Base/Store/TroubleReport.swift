public import Logging

/// Logs when something begins to fail, each different reason once, and when it works again. A full disk has no room for a line about each
/// write.
public struct TroubleReport {
    private let metadata: Logger.Metadata
    private let log: Logger
    private var told: Set<StoreError> = []
    private var count = 0

    /// The most reasons that are logged until the next success.
    private static let toldMax = 8

    /// Nothing has failed yet.
    ///
    /// - Parameter metadata: names the store in each line.
    public init(_ log: Logger, _ metadata: Logger.Metadata) {
        self.log = log
        self.metadata = metadata
    }

    /// Whether something has failed since it last worked.
    public var isTrouble: Bool { count > 0 }

    /// Counts a failure, and logs it if its reason is new.
    public mutating func failed(_ what: String, _ error: StoreError) {
        count += 1
        guard told.count < Self.toldMax, told.insert(error).inserted else { return }
        log.error("\(what)", metadata: metadata.merging(["reason": "\(error)"]) { $1 })
    }

    /// Logs that it works again, if it had failed.
    public mutating func succeeded(_ what: String) {
        guard count > 0 else { return }
        log.notice("\(what)", metadata: metadata.merging(["failures": "\(count)"]) { $1 })
        told = []
        count = 0
    }
}
