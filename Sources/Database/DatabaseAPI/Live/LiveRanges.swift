import HearthJSON
import RealtimeDatabase

/// The copy that a client has of what it listens to.
struct LiveCopy {
    /// The hash of the value; empty for none.
    var hash: String
    /// Hashes of its ranges; nil for none, and once the first value was sent.
    var ranges: RangeHashes?

    /// - Parameter hash: as the client has sent it. One that cannot be a hash stands for another value.
    init(hash: String, ranges: RangeHashes?) {
        self.hash = hash.utf8.count <= 64 ? hash : "?"
        self.ranges = ranges
    }

    /// Makes the first read compare the value with the copy. The result of a query is compared as a whole.
    func prepare(_ request: inout ReadRequest, isFirst: Bool) {
        (request.ifNoneMatch, request.clientRanges) = (nil, nil)
        guard isFirst else { return }
        request.ifNoneMatch = hash.isEmpty ? nil : hash
        if case .value = request.kind { request.clientRanges = ranges }
    }
}

extension RangeHashes {
    /// The most ranges, and the most bytes of the member, that a listen may have. Clients make about 1,600 ranges of 256 MiB.
    static let countMax = 4096
    static let bytesMax = 1024 * 1024

    /// Parses the member `ch` of a listen: `{"ps":[PATH,...],"hs":[HASH,...]}`.
    ///
    /// - Returns: nil if it is too large to be compared. The client then gets the value, as without it.
    static func parse(_ text: Span<UInt8>) throws(LiveRefusal) -> RangeHashes? {
        guard text.count <= bytesMax else { return nil }
        guard let parts = try? JSONValue(parsing: text, limits: JSONLimits(depthMax: 3)) else { throw malformed }
        guard let paths = strings(parts["ps"]), let hashes = strings(parts["hs"]) else { throw malformed }
        guard hashes.count <= countMax else { return nil }
        do throws(Fault) { return try RangeHashes(texts: paths, hashes: hashes) } catch { throw .badRequest(error.reason) }
    }

    private static let malformed = LiveRefusal.badRequest("\"ch\" must be an object with lists of texts \"ps\" and \"hs\"")

    private static func strings(_ value: JSONValue?) -> [String]? {
        guard let list = value?.array else { return nil }
        var strings: [String] = []
        strings.reserveCapacity(list.count)
        for element in list {
            guard let string = element.string else { return nil }
            strings.append(string)
        }
        return strings
    }
}
