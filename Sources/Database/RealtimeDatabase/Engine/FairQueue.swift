import EventLoop

/// A queue for requests that may take long. Clients take turns, regardless of the number of their requests.
struct FairQueue<Request> {
    /// The most waiting requests of one client.
    static var perClientMax: Int { 64 }
    /// The most waiting requests of all clients.
    static var countMax: Int { 4096 }

    private struct Line {
        var requests: [Request] = []
        /// The index of the first request that was not taken yet.
        var head = 0
        var count: Int { requests.count - head }
    }

    private var lines: [NetworkAddress: Line] = [:]
    /// The clients with waiting requests, in the order of their turns, from the index `head` on.
    private var turns: [NetworkAddress] = []
    private var head = 0
    private(set) var count = 0

    /// Adds a request of a client.
    ///
    /// - Returns: false if too many requests are waiting.
    mutating func add(_ request: Request, of client: NetworkAddress) -> Bool {
        let waiting = lines[client]?.count ?? 0
        // The unspecified address stands for many senders, for example functions.
        guard count < Self.countMax, waiting < Self.perClientMax || client == .unspecified else { return false }
        if waiting == 0 { turns.append(client) }
        lines[client, default: Line()].requests.append(request)
        count += 1
        return true
    }

    /// Takes the next request; nil if none is waiting.
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

    /// Takes all requests.
    mutating func takeAll() -> [Request] {
        var all: [Request] = []
        while let request = next() { all.append(request) }
        return all
    }
}
