import HearthBytes
import HearthJSON
import Tree

/// An operation on a namespace in the form of the profiler (spec database 2.9). Values that an operation does not have are left out.
package struct Operation: Sendable {
    let name: OperationName
    var path: Path?
    /// The size of the JSON that was read, written or sent to listeners.
    var bytes: Int?
    /// Whether the rules allowed it.
    var isAllowed: Bool?
    /// The number of listeners that received it.
    var listeners: Int?
    var query: QueryUse?
    var stopwatch: OperationTimer?

    /// The selection of a read.
    struct QueryUse: Sendable {
        /// Nil if everything was read.
        var query: Query?
        /// Whether the rules lack the index that it needs.
        var isUnindexed: Bool
    }

    package init(_ name: OperationName, at path: Path? = nil) {
        self.name = name
        self.path = path
    }

    /// A change that was just sent to listeners.
    package init(broadcastAt path: Path, bytes: Int, listeners: Int, _ stopwatch: OperationTimer) {
        self.init(.listenerBroadcast, at: path)
        self.bytes = bytes
        self.listeners = listeners
        self.stopwatch = stopwatch
    }

    // MARK: As JSON

    /// The frame for the operation, which ends now.
    func frame() -> [UInt8] {
        Self.frame { json in
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

    /// A frame of an event stream, with the present time. `members` writes the other members of its object.
    private static func frame(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var frame = ByteBuffer()
        frame.append("event: log\ndata: ")
        JSONWriter.write(to: &frame) { json in
            json.object { json in
                members(&json)
                json.member("timestamp", UnixTime.milliseconds())
            }
        }
        frame.append("\n\n")
        return frame.array()
    }

    /// The frame that reports the number of operations that were not reported.
    static func frame(ofLost count: Int) -> [UInt8] {
        Self.frame { json in
            json.member("name", "lost")
            json.member("count", count)
        }
    }
}

extension JSONWriter {
    /// Writes a time in milliseconds, with microseconds as decimals.
    fileprivate mutating func milliseconds(_ name: String, _ nanoseconds: UInt64) {
        key(name)
        number(Double(nanoseconds / 1000) / 1000)
    }
}

extension Query {
    /// Writes the members of the selection, with the names of the request parameters (spec database 2.3).
    fileprivate func describe(in json: inout JSONWriter) {
        let (name, index) = switch order {
        case .key: ("$key", [".key"])
        case .value: ("$value", [".value"])
        case .priority: ("$priority", [".priority"])
        case .child(let path): (path.segments.joined(separator: "/"), path.segments)
        }
        json.member("orderBy", name)
        // By this, the official command line distinguishes unindexed queries at the same place.
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
    /// Whether the range from here to `end` selects the children with a single value.
    fileprivate func isEqual(to end: Query.Bound) -> Bool {
        value == end.value && isInclusive && end.isInclusive && (key == end.key || key == .min && end.key == .max)
    }

    /// Writes the value. If the bound has a key, writes an array of value and key.
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
