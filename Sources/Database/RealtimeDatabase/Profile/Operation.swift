import HearthJSON
import Tree

/// Something that was done to a namespace, as the profiler tells it (spec database 2.9). What an operation has not is left out.
struct Operation: Sendable {
    let name: OperationName
    var path: Path?
    /// The JSON that was read, written or sent to listeners.
    var bytes: Int?
    /// Whether the rules allowed it.
    var isAllowed: Bool?
    /// How many listeners heard of it.
    var listeners: Int?
    var query: QueryUse?
    var stopwatch: OperationTimer?

    /// What a read selected.
    struct QueryUse: Sendable {
        /// Nil where everything was read.
        var query: Query?
        /// Whether the rules lack the index that it needs.
        var isUnindexed: Bool
    }

    init(_ name: OperationName, at path: Path? = nil) {
        self.name = name
        self.path = path
    }

    /// A write, once it was tried; nil where the profiler is not told of it.
    init?(_ request: WriteRequest, _ outcome: WriteOutcome, _ stopwatch: OperationTimer?) {
        guard let stopwatch, let name = request.profiledAs else { return nil }
        self.init(name, at: request.operation.path)
        bytes = request.bytes
        if case .set(_, let draft) = request.operation, draft.node.isEmpty { bytes = 0 }
        isAllowed = true
        if case .refused(let error) = outcome { isAllowed = error.kind != .permissionDenied }
        self.stopwatch = stopwatch
    }

    /// A read, once its answer has begun.
    init(_ name: OperationName, _ request: ReadRequest, _ outcome: ReadOutcome, isUnindexed: Bool, _ stopwatch: OperationTimer) {
        self.init(name, at: request.path)
        isAllowed = true
        bytes = 0
        switch outcome {
        case .value(let json, _, _): bytes = json.count
        case .stream(let stream): bytes = stream.first.count
        case .notModified: break
        case .refused(let error): isAllowed = error.kind != .permissionDenied
        }
        if name == .listenerBroadcast { listeners = 1 } else { query = QueryUse(query: request.query, isUnindexed: isUnindexed) }
        self.stopwatch = stopwatch
    }

    /// What listeners were told, just now.
    init(broadcastAt path: Path, bytes: Int, listeners: Int, _ stopwatch: OperationTimer) {
        self.init(.listenerBroadcast, at: path)
        self.bytes = bytes
        self.listeners = listeners
        self.stopwatch = stopwatch
    }

    // MARK: As JSON

    /// The frame that tells of it: it has ended now.
    func frame() -> [UInt8] {
        EventFrames.log { json in
            json.member("name", name.rawValue)
            if let path {
                json.key("path")
                json.array { json in
                    for segment in path.segments { json.string(segment) }
                }
            }
            if let stopwatch {
                json.milliseconds("millis", stopwatch.elapsed)
                if let waited = stopwatch.waited { json.milliseconds("pendingTime", waited) }
            }
            if let bytes { json.member("bytes", bytes) }
            if let isAllowed { json.member("allowed", isAllowed) }
            if let listeners { json.member("clientsUpdated", listeners) }
            if let query {
                json.member("unIndexed", query.isUnindexed)
                json.key("querySet")
                json.array { json in
                    json.object { json in query.query?.describe(in: &json) }
                }
            }
        }
    }

    /// The frame that tells a reader that so many operations were not told to it.
    static func frame(ofLost count: Int) -> [UInt8] {
        EventFrames.log { json in
            json.member("name", "lost")
            json.member("count", count)
        }
    }
}

extension JSONWriter {
    /// A time as milliseconds, to the microsecond.
    fileprivate mutating func milliseconds(_ name: String, _ nanoseconds: UInt64) {
        key(name)
        number(Double(nanoseconds / 1000) / 1000)
    }
}

extension Query {
    /// Writes the members that say what is selected, by the names that the parameters of requests have (spec database 2.3).
    fileprivate func describe(in json: inout JSONWriter) {
        let (name, index) = switch order {
        case .key: ("$key", [".key"])
        case .value: ("$value", [".value"])
        case .priority: ("$priority", [".priority"])
        case .child(let path): (path.segments.joined(separator: "/"), path.segments)
        }
        json.member("orderBy", name)
        // The official command line tells unindexed queries of one place apart by this.
        json.key("index")
        json.object { json in
            json.key("path")
            json.array { json in
                for segment in index { json.string(segment) }
            }
        }
        if let start, let end, start.isEqual(to: end) {
            start.describe(as: "equalTo", in: &json)
        } else {
            start?.describe(as: start?.isInclusive == true ? "startAt" : "startAfter", in: &json)
            end?.describe(as: end?.isInclusive == true ? "endAt" : "endBefore", in: &json)
        }
        if let limit { json.member(anchorsLast ? "limitToLast" : "limitToFirst", limit) }
    }
}

extension Query.Bound {
    /// Whether a range from here to `end` is the children of one value.
    fileprivate func isEqual(to end: Query.Bound) -> Bool {
        value == end.value && isInclusive && end.isInclusive && (key == end.key || key == .min && end.key == .max)
    }

    /// Writes the value; with the key beside it, in an array, where one was named.
    fileprivate func describe(as name: String, in json: inout JSONWriter) {
        json.key(name)
        guard case .key(let key) = key else { return value.write(to: &json) }
        json.array { json in
            value.write(to: &json)
            json.string(key)
        }
    }
}

extension IndexValue {
    fileprivate func write(to json: inout JSONWriter) {
        switch self {
        case .null, .object: json.null()
        case .false: json.bool(false)
        case .true: json.bool(true)
        case .number(let number): json.number(number)
        case .string(let text): json.string(text)
        }
    }
}
