import HearthBytes
import HTTP

/// How much of large bodies one loop holds at a time: a few clients must not fill the memory with what they have not finished
/// sending.
final class BodyBudget {
    private let bytesMax: Int
    private var bytesTaken = 0
    private let complete: (HTTPExchange, Span<UInt8>) -> Void
    /// Bodies up to this are not counted: the server bounds how many connections there are.
    private static let bytesFree = 1024 * 1024

    /// - Parameter complete: called with a body whose length was not known beforehand.
    init(bytesMax: Int, complete: @escaping (HTTPExchange, Span<UInt8>) -> Void) {
        self.bytesMax = bytesMax
        self.complete = complete
    }

    /// What becomes of the body of `exchange`, which is answered where there is no room for it.
    func plan(for exchange: HTTPExchange, limit: Int) -> BodyPlan {
        guard exchange.hasBody else { return .collect(limit: limit) }
        guard let length = exchange.contentLength, !exchange.isCompressed else {
            let share = Share(self)
            exchange.observer = share
            return .stream(GrowingBody(share, limit: limit, complete))
        }
        guard length > Self.bytesFree else { return .collect(limit: limit) }
        let share = Share(self)
        guard share.covers(length) else {
            RESTAnswer.refuse(exchange, .tooMuchIsWritten)
            return .answered
        }
        exchange.observer = share
        return .collect(limit: limit)
    }

    /// A body's part of the budget, given back when the exchange lets go of it, however it ended.
    fileprivate final class Share: HTTPExchangeObserver {
        private let budget: BodyBudget
        private var bytes = 0

        init(_ budget: BodyBudget) { self.budget = budget }

        deinit { budget.bytesTaken -= bytes }

        /// Whether there is room for a body of `count` bytes, which is kept for it.
        func covers(_ count: Int) -> Bool {
            guard count > max(bytes, BodyBudget.bytesFree) else { return true }
            // The largest body of all must find room when there is no other.
            guard budget.bytesTaken == bytes || budget.bytesTaken - bytes + count <= budget.bytesMax else { return false }
            budget.bytesTaken += count - bytes
            bytes = count
            return true
        }

        func exchangeDidClose(_ exchange: HTTPExchange) {}
    }
}

/// A body whose length nobody knows before it ends, since it is chunked or compressed: room is made for it as it grows.
private final class GrowingBody: HTTPBodyReceiver {
    private weak var share: BodyBudget.Share?
    private let limit: Int
    private let complete: (HTTPExchange, Span<UInt8>) -> Void
    private var body = ByteBuffer()

    init(_ share: BodyBudget.Share, limit: Int, _ complete: @escaping (HTTPExchange, Span<UInt8>) -> Void) {
        self.share = share
        self.limit = limit
        self.complete = complete
    }

    func exchange(_ exchange: HTTPExchange, didReceive bytes: Span<UInt8>) {
        let count = body.count + bytes.count
        guard count <= limit else { return refuse(exchange, RESTError(.contentTooLarge, RESTError.writeTooLarge.message)) }
        guard let share, share.covers(count), exchange.holdsMuch(count) else { return refuse(exchange, .tooMuchIsWritten) }
        body.append(bytes)
    }

    private func refuse(_ exchange: HTTPExchange, _ error: RESTError) {
        body.clear(keepingAtMost: 0)
        RESTAnswer.refuse(exchange, error)
    }

    func exchangeDidReceiveAll(_ exchange: HTTPExchange) {
        complete(exchange, body.bytes)
        body.clear(keepingAtMost: 0)
    }
}

extension HTTPExchange {
    /// Whether there is room for `bytes` that are kept while the database works; what is small is not counted.
    func holdsMuch(_ bytes: Int) -> Bool { bytes <= 4096 || hold(bytes: bytes) }
}

extension RESTError {
    static let tooMuchIsWritten = RESTError(
        .serviceUnavailable, "Too much is being written at this moment; nothing was done, try again")
}
