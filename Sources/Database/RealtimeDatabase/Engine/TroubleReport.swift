import Logging

/// Tells the log when something begins to fail, in which different ways, and when it works again: a disk that is full has no room
/// for a line about each write.
struct TroubleReport {
    private let name: Logger.MetadataValue
    private let log: Logger
    private var told: Set<StoreError> = []
    private var count = 0

    private static let toldMax = 8

    init(_ settings: NamespaceSettings) {
        name = "\(settings.name)"
        log = settings.log
    }

    mutating func failed(_ what: String, _ error: StoreError) {
        count += 1
        guard told.count < Self.toldMax, told.insert(error).inserted else { return }
        log.error("\(what)", metadata: ["namespace": name, "reason": "\(error)"])
    }

    mutating func succeeded(_ what: String) {
        guard count > 0 else { return }
        log.notice("\(what)", metadata: ["namespace": name, "failures": "\(count)"])
        told = []
        count = 0
    }
}
