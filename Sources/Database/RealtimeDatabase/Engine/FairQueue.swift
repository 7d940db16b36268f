import EventLoop

/// Requests that may take long, a queue for each client. Clients have their turns one after the other, however much each asks for.
struct FairQueue<Request> {
    /// Requests of one client that may wait.
    static var perClientMax: Int { 64 }
    /// Requests of all clients that may wait.
    static var countMax: Int { 4096 }

    private struct Line {
        var requests: [Request] = []
        /// Requests before this one have been taken.
        var head = 0
        var count: Int { requests.count - head }
    }

    private var lines: [NetworkAddress: Line] = [:]
    /// Clients with a request that waits, in their turns; those before `head` have had theirs.
    private var turns: [NetworkAddress] = []
    private var head = 0
    private(set) var count = 0

    /// Adds a request of a client.
    ///
    /// - Returns: false where too many wait already.
    mutating func add(_ request: Request, of client: NetworkAddress) -> Bool {
        let waiting = lines[client]?.count ?? 0
        // Functions, and others without an address, are many in one.
        guard count < Self.countMax, waiting < Self.perClientMax || client == .unspecified else { return false }
        if waiting == 0 { turns.append(client) }
        lines[client, default: Line()].requests.append(request)
        count += 1
        return true
    }

    /// The request whose turn it is; nil where none waits.
    mutating func next() -> Request? {
        guard head < turns.count else { return nil }
        let client = turns[head]
        head += 1
        if head == turns.count || head >= 256 {
            turns.removeFirst(head)
            head = 0
        }
        guard var line = lines.removeValue(forKey: client) else { return nil }
        let request = line.requests[line.head]
        line.head += 1
        count -= 1
        guard line.count > 0 else { return request }
        if line.head >= 64 {
            line.requests.removeFirst(line.head)
            line.head = 0
        }
        lines[client] = line
        turns.append(client)
        return request
    }

    /// Takes all of them.
    mutating func takeAll() -> [Request] {
        var all: [Request] = []
        while let request = next() { all.append(request) }
        return all
    }
}
