import HearthBytes
import HTTP

/// The memory budget of a loop for large request bodies, so that a few clients cannot fill the memory with incomplete bodies.
final class BodyBudget {
    private let bytesMax: Int
    private var bytesTaken = 0
    private let complete: (HTTPExchange, Span<UInt8>) -> Void
    /// The size up to which bodies are not counted, because the number of connections is limited.
    private static let bytesFree = 1024 * 1024

    /// - Parameter complete: called with a body whose length was not known in advance.
    init(bytesMax: Int, complete: @escaping (HTTPExchange, Span<UInt8>) -> Void) {
        self.bytesMax = bytesMax
        self.complete = complete
    }

    /// The plan for the body of `exchange`. Answers with an error if there is no room for it.
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

    /// The part of the budget that a body uses. Returned when the exchange releases it, however the exchange ended.
    fileprivate final class Share: HTTPExchangeObserver {
        private let budget: BodyBudget
        private var bytes = 0

        init(_ budget: BodyBudget) { self.budget = budget }

        deinit { budget.bytesTaken -= bytes }

        /// Reserves room for a body of `count` bytes. Returns false if there is not enough.
        func covers(_ count: Int) -> Bool {
            guard count > max(bytes, BodyBudget.bytesFree) else { return true }
            // Even the largest body must find room if it is the only one.
            guard budget.bytesTaken == bytes || budget.bytesTaken - bytes + count <= budget.bytesMax else { return false }
            budget.bytesTaken += count - bytes
            bytes = count
            return true
        }

        func exchangeDidClose(_ exchange: HTTPExchange) {}
    }
}

/// A body of unknown length, because it is chunked or compressed. Room is reserved as it grows.
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
    /// Reserves room for `bytes` that are kept while the database works. Small sizes are not counted. Returns false if there is not enough.
    func holdsMuch(_ bytes: Int) -> Bool { bytes <= 4096 || hold(bytes: bytes) }
}

extension RESTError {
    static let tooMuchIsWritten = RESTError(
        .serviceUnavailable, "Too much is being written at this moment; nothing was done, try again")
}
