import HTTP

/// How much of large bodies one loop holds at a time: a few clients must not fill the memory with what they have not finished
/// sending.
final class BodyBudget {
    private let bytesMax: Int
    private var bytesTaken = 0
    /// Bodies up to this are not counted: the server bounds how many connections there are.
    private static let bytesFree = 1024 * 1024
    /// What a body is counted as whose length nobody knows before it ends.
    private static let bytesUnknown = 32 * 1024 * 1024

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Makes room for the body of `exchange` until that is answered or gone.
    ///
    /// - Returns: whether there is room.
    func admit(_ exchange: HTTPExchange) -> Bool {
        guard exchange.hasBody else { return true }
        let bytes = exchange.contentLength ?? Self.bytesUnknown
        guard bytes > Self.bytesFree else { return true }
        // The largest body of all must find room when there is no other.
        guard bytesTaken == 0 || bytesTaken + bytes <= bytesMax else { return false }
        bytesTaken += bytes
        exchange.observer = Reservation(self, bytes: bytes)
        return true
    }

    /// A part of the budget, given back when the exchange lets go of it, however it ended.
    private final class Reservation: HTTPExchangeObserver {
        private let budget: BodyBudget
        private let bytes: Int

        init(_ budget: BodyBudget, bytes: Int) {
            self.budget = budget
            self.bytes = bytes
        }

        deinit { budget.bytesTaken -= bytes }

        func exchangeDidClose(_ exchange: HTTPExchange) {}
    }
}
