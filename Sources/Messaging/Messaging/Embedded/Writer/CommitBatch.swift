import EventLoop

/// What waits for a transaction to become durable: answers and frames, a list for each loop, so that each loop is woken once.
struct CommitBatch {
    private var deliveries: [Delivery] = []

    private struct Delivery: Sendable {
        var loop: EventLoop
        var work: [@Sendable (MessagingError?) -> Void] = []
    }

    /// Has `work` called on `loop`: with nil once the transaction is durable, or with why it is not.
    mutating func add(on loop: EventLoop, _ work: @escaping @Sendable (MessagingError?) -> Void) {
        if let index = deliveries.firstIndex(where: { $0.loop === loop }) {
            deliveries[index].work.append(work)
        } else {
            deliveries.append(Delivery(loop: loop, work: [work]))
        }
    }

    /// Sends everything on its way.
    mutating func deliver(failure: MessagingError?) {
        while let loop = deliveries.last?.loop {
            let parcel = Parcel(deliveries.removeLast())
            loop.post { for work in parcel.take()?.work ?? [] { work(failure) } }
        }
    }
}
