public import Logging

/// Logs when something begins to fail, each different reason of each operation once, and when it works again. A full disk has no room for a
/// line about each write.
public struct TroubleReport {
    private let metadata: Logger.Metadata
    private let log: Logger
    private var told: Set<Line> = []
    private var count = 0

    /// The most lines until the next success.
    private static let toldMax = 8

    private struct Line: Hashable {
        let what: String
        let error: StoreError
    }

    /// Nothing has failed yet.
    ///
    /// - Parameter metadata: names the store in each line.
    public init(_ log: Logger, _ metadata: Logger.Metadata) {
        self.log = log
        self.metadata = metadata
    }

    /// Whether something has failed since it last worked.
    public var isTrouble: Bool { count > 0 }

    /// Counts a failure, and logs it if it is new. The same reason of two operations, such as a write and a checkpoint, makes two lines.
    public mutating func failed(_ what: String, _ error: StoreError) {
        count += 1
        guard told.count < Self.toldMax, told.insert(Line(what: what, error: error)).inserted else { return }
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
