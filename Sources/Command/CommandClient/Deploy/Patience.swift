import Glibc

/// Retries of operations that fail temporarily: the host restarts, the network breaks.
struct Patience {
    private let retriesMax: Int
    private var retries = 0

    /// - Parameter retriesMax: attempts in a row; the default is about half a minute.
    init(retriesMax: Int = 12) { self.retriesMax = retriesMax }

    /// Resets the count after progress.
    mutating func renew() { retries = 0 }

    /// Waits before the next attempt.
    ///
    /// - Throws: `failure`, if it is permanent or there were too many attempts.
    mutating func wait(after failure: ClientFailure) throws(ClientFailure) {
        guard failure.isPassing, retries < retriesMax else { throw failure }
        usleep(useconds_t(min(5_000_000, 50_000 << retries)))
        retries += 1
    }

    /// Repeats an operation until it succeeds.
    static func trying<Value>(_ attempt: () throws(ClientFailure) -> Value) throws(ClientFailure) -> Value {
        var patience = Patience()
        while true {
            do throws(ClientFailure) {
                return try attempt()
            } catch {
                try patience.wait(after: error)
            }
        }
    }
}
