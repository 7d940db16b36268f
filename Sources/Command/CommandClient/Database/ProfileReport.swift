public import HearthJSON

/// The results of a profile of a database.
public struct ProfileReport: Sendable {
    /// Reads, and the first values of streams.
    public private(set) var reads: PlaceSums
    /// Writes.
    public private(set) var writes: PlaceSums
    /// Data sent to streams.
    public private(set) var broadcasts: PlaceSums
    /// Queries without an index, by order criterion.
    public private(set) var unindexed: [String: PlaceSums] = [:]
    /// The number of operations.
    public private(set) var count = 0
    /// The number of operations that were not reported because they came too fast.
    public private(set) var lost = 0
    /// The numbers of clients that connected and disconnected.
    public private(set) var clients = (come: 0, gone: 0)
    private var times: ClosedRange<Int>?
    private let none: PlaceSums

    /// - Parameter collapses: whether many children of a location are combined.
    public init(collapses: Bool) {
        none = PlaceSums(collapses: collapses)
        reads = none
        writes = none
        broadcasts = none
    }

    /// The time between the first operation and the last, in milliseconds.
    public var milliseconds: Int { times.map { $0.upperBound - $0.lowerBound } ?? 0 }

    /// Adds an operation in the host's format.
    public mutating func add(_ operation: JSONValue) {
        guard let name = operation["name"]?.string else { return }
        guard name != "lost" else { return lost += operation["count"]?.int ?? 0 }
        count += 1
        if let time = operation["timestamp"]?.int {
            times = min(times?.lowerBound ?? time, time)...max(times?.upperBound ?? time, time)
        }
        let path = operation["path"]?.array?.compactMap(\.string) ?? []
        let sum = PlaceSums.Sum(operation)
        switch name {
        case "rest-read", "realtime-read", "listener-listen":
            reads.add(sum, at: path)
            guard operation["unIndexed"]?.bool == true else { return }
            let order = operation["querySet"]?.array?.first?["orderBy"]?.string ?? ""
            unindexed[order, default: none].add(sum, at: path)
        case "rest-write", "rest-update", "realtime-write", "realtime-update", "realtime-transaction": writes.add(sum, at: path)
        case "listener-broadcast": broadcasts.add(sum, at: path)
        case "concurrent-connect": clients.come += 1
        case "concurrent-disconnect": clients.gone += 1
        default: break
        }
    }
}

extension PlaceSums.Sum {
    fileprivate init(_ operation: JSONValue) {
        count = 1
        denied = operation["allowed"]?.bool == false ? 1 : 0
        bytes = operation["bytes"]?.int ?? 0
        millis = operation["millis"]?.double ?? 0
        if let wait = operation["pendingTime"]?.double { (waits, waitMillis) = (1, wait) }
    }
}

extension HostClient {
    /// Reports every operation on a database until the host ends the answer.
    ///
    /// - Parameters:
    ///   - instance: the namespace; nil for the host's default.
    ///   - began: called once the host has begun to answer.
    public func profile(
        instance: String?, began: () -> Void, _ take: (JSONValue) throws(ClientFailure) -> Void
    ) throws(ClientFailure) {
        let target = DatabaseTarget(path: "/.settings/profile", instance: instance).target()
        var events = ServerSentEvents()
        var hasBegun = false
        try download(HostRequest("GET", target, headers: [("Accept", "text/event-stream")])) { (piece) throws(ClientFailure) in
            if !hasBegun { began() }
            hasBegun = true
            for data in events.events(in: piece) {
                guard let operation = try? JSONValue(parsing: data.span), operation.object != nil else { continue }
                try take(operation)
            }
        }
    }
}
