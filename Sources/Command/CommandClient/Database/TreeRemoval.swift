import HearthJSON

/// Removes a tree of any size: in one request if the host accepts it, otherwise in parts (spec database 2.9).
public struct TreeRemoval {
    private let client: HostClient
    private let raisesTriggers: Bool
    /// Called with the number of removing requests.
    private let report: (Int) -> Void
    private var removals = 0

    private static let firstListing = 100
    private static let listingMax = 204_800
    private static let firstBatch = 25

    /// - Parameter report: called from time to time with the number of requests so far.
    public init(_ client: HostClient, raisesTriggers: Bool, report: @escaping (Int) -> Void = { _ in }) {
        self.client = client
        self.raisesTriggers = raisesTriggers
        self.report = report
    }

    /// Removes the value at a location.
    public mutating func remove(_ target: DatabaseTarget) throws(ClientFailure) {
        if try isTaken(target, body: "null") { return }
        var listing = Self.firstListing
        var batch = Self.firstBatch
        while true {
            let children = try children(of: target, limit: listing)
            if children.isEmpty { return }
            var rest = children[...]
            while !rest.isEmpty {
                let names = rest.prefix(batch)
                if try isTaken(target, body: JSONValue.object(JSONObject(names.map { ($0, JSONValue.null) })).description) {
                    rest = rest.dropFirst(names.count)
                    batch = min(batch * 2, Self.listingMax)
                } else if names.count > 1 {
                    batch = names.count / 2
                } else {
                    // A single child that is too big.
                    try remove(target.appending(Array(names)))
                    rest = rest.dropFirst()
                    batch = 1
                }
            }
            listing = min(listing * 2, Self.listingMax)
        }
    }

    /// Whether the host did it; it refuses with 400 if that would take too long.
    private mutating func isTaken(_ target: DatabaseTarget, body: String) throws(ClientFailure) -> Bool {
        var query = [(name: "print", value: "silent"), (name: "writeSizeLimit", value: "tiny")]
        if !raisesTriggers { query.append((name: "disableTriggers", value: "true")) }
        let answer = try client.send(HostRequest("PATCH", target.target(query), body: .bytes(Array(body.utf8))))
        guard answer.status < 400 else {
            guard answer.status == 400 else { throw client.refusal(answer) }
            let text = (try? JSONValue(parsing: answer.body))?["error"]?.string ?? ""
            // Other refusals would also occur in parts.
            guard text.contains("exceeds the maximum size") || text.contains("too many functions") || body == "null" && text.contains("data")
            else { throw client.refusal(answer) }
            return false
        }
        removals += 1
        report(removals)
        return true
    }

    private func children(of target: DatabaseTarget, limit: Int) throws(ClientFailure) -> [String] {
        let query = [(name: "shallow", value: "true"), (name: "limitToFirst", value: "\(limit)")]
        let answer = try client.ask(HostRequest("GET", target.target(query)))
        guard let found = try? JSONValue(parsing: answer.body), !found.isNull else { return [] }
        guard let object = found.object else {
            // A leaf that could not be removed.
            throw ClientFailure(.refused(status: 400), "the host does not remove the value at \(target); see its log")
        }
        return Array(object.keys)
    }
}
