import DequeModule
import EventLoop

/// A queue for requests that may take long. Clients take turns, regardless of the number of their requests.
struct FairQueue<Request> {
    /// The most waiting requests of one client.
    static var perClientMax: Int { 64 }
    /// The most waiting requests of all clients.
    static var countMax: Int { 4096 }

    private var waiting: [NetworkAddress: Deque<Request>] = [:]
    /// The clients with waiting requests, in the order of their turns.
    private var turns: Deque<NetworkAddress> = []
    private(set) var count = 0

    /// Adds a request of a client.
    ///
    /// - Parameter isPatient: whether it may be added however many are waiting.
    /// - Returns: false if too many requests are waiting.
    mutating func add(_ request: Request, of client: NetworkAddress, isPatient: Bool = false) -> Bool {
        let own = waiting[client]?.count ?? 0
        // The unspecified address stands for many senders, for example functions.
        guard isPatient || count < Self.countMax && (own < Self.perClientMax || client == .unspecified) else { return false }
        if own == 0 { turns.append(client) }
        waiting[client, default: []].append(request)
        count += 1
        return true
    }

    /// Takes the next request; nil if none is waiting.
    mutating func next() -> Request? {
        guard let client = turns.popFirst(), let request = waiting[client]?.popFirst() else { return nil }
        count -= 1
        if waiting[client]?.isEmpty == true { waiting[client] = nil } else { turns.append(client) }
        return request
    }

    /// Takes all requests.
    mutating func takeAll() -> [Request] {
        var all: [Request] = []
        while let request = next() { all.append(request) }
        return all
    }
}
