import Logging

/// Tells the log when something begins to fail and when it works again, and of nothing in between: a disk that is full has no
/// room for a line about each write.
struct TroubleReport {
    private let name: Logger.MetadataValue
    private let log: Logger
    private var kind: StoreError.Kind?
    private var count = 0

    init(_ settings: NamespaceSettings) {
        name = "\(settings.name)"
        log = settings.log
    }

    mutating func failed(_ what: String, _ error: StoreError) {
        count += 1
        guard kind != error.kind else { return }
        kind = error.kind
        log.error("\(what)", metadata: ["namespace": name, "reason": "\(error)"])
    }

    mutating func succeeded(_ what: String) {
        guard kind != nil else { return }
        log.notice("\(what)", metadata: ["namespace": name, "failures": "\(count)"])
        kind = nil
        count = 0
    }
}
