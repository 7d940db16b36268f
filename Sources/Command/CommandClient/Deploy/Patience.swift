import Glibc

/// How long something is tried again that fails in passing: a host that starts anew, a network that breaks off.
struct Patience {
    private let retriesMax: Int
    private var retries = 0

    /// - Parameter retriesMax: how often in a row; the default is about half a minute.
    init(retriesMax: Int = 12) { self.retriesMax = retriesMax }

    /// Notes that something has come forward.
    mutating func renew() { retries = 0 }

    /// Waits before the next attempt.
    ///
    /// - Throws: `failure`, where it is not one that passes, or has lasted too long.
    mutating func wait(after failure: ClientFailure) throws(ClientFailure) {
        guard failure.isPassing, retries < retriesMax else { throw failure }
        usleep(useconds_t(min(5_000_000, 50_000 << retries)))
        retries += 1
    }

    /// Does something until it succeeds.
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
