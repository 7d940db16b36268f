public import EventLoop

/// Answers and announcements that wait for a transaction to become durable: a list for each loop, so that each loop is woken once.
public struct CommitBatch {
    private var deliveries: [Delivery] = []

    private struct Delivery: Sendable {
        var loop: EventLoop
        var announcements: [@Sendable () -> Void] = []
        var answers: [@Sendable (StoreError?) -> Void] = []
    }

    /// An empty batch.
    public init() {}

    /// Calls `answer` on `loop` with nil once the transaction is durable, or with the reason why it is not.
    public mutating func answer(on loop: EventLoop, _ answer: @escaping @Sendable (StoreError?) -> Void) {
        let index = place(of: loop)
        deliveries[index].answers.append(answer)
    }

    /// Calls `announce` on `loop` if the transaction becomes durable, before the answers that go to the same loop.
    public mutating func announce(on loop: EventLoop, _ announce: @escaping @Sendable () -> Void) {
        let index = place(of: loop)
        deliveries[index].announcements.append(announce)
    }

    private mutating func place(of loop: EventLoop) -> Int {
        if let index = deliveries.firstIndex(where: { $0.loop === loop }) { return index }
        deliveries.append(Delivery(loop: loop))
        return deliveries.count - 1
    }

    /// Sends all answers and announcements to their loops, and is empty afterwards.
    ///
    /// From then on, the answers must be used only on their loops: requests end there, and their objects are reused.
    public mutating func deliver(failure: StoreError?) {
        while let loop = deliveries.last?.loop {
            let parcel = Parcel(deliveries.removeLast())
            loop.post {
                guard let delivery = parcel.take() else { return }
                if failure == nil { for announce in delivery.announcements { announce() } }
                for answer in delivery.answers { answer(failure) }
            }
        }
    }
}
