public import HearthJSON

/// What a profile of a database comes to.
public struct ProfileReport: Sendable {
    /// What reads and the first values of streams come to.
    public private(set) var reads: PlaceSums
    /// What writes come to.
    public private(set) var writes: PlaceSums
    /// What was sent to streams.
    public private(set) var broadcasts: PlaceSums
    /// Queries that lack an index, by what they are ordered by.
    public private(set) var unindexed: [String: PlaceSums] = [:]
    /// How many operations there were.
    public private(set) var count = 0
    /// How many were not told, because they came too quickly.
    public private(set) var lost = 0
    /// How many clients came and went.
    public private(set) var clients = (come: 0, gone: 0)
    private var times: ClosedRange<Int>?
    private let none: PlaceSums

    /// - Parameter collapses: whether the children of a place become one where there are many.
    public init(collapses: Bool) {
        none = PlaceSums(collapses: collapses)
        reads = none
        writes = none
        broadcasts = none
    }

    /// How much time there is between the first operation and the last, in milliseconds.
    public var milliseconds: Int { times.map { $0.upperBound - $0.lowerBound } ?? 0 }

    /// Adds an operation, as the host tells it.
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
    /// Hands on every operation on a database, as the host tells it, until the host ends that.
    ///
    /// - Parameters:
    ///   - instance: the namespace; nil for the host's own.
    ///   - began: called once the host has begun to tell.
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
