public import EventLoop

/// Answers that wait for a transaction to become durable: a list for each loop, so that each loop is woken once.
public struct CommitBatch: Sendable {
    private var deliveries: [Delivery] = []

    private struct Delivery: Sendable {
        var loop: EventLoop
        var answers: [@Sendable (StoreError?) -> Void] = []
    }

    /// An empty batch.
    public init() {}

    /// Calls `answer` on `loop` with nil once the transaction is durable, or with the reason why it is not.
    public mutating func answer(on loop: EventLoop, _ answer: @escaping @Sendable (StoreError?) -> Void) {
        let index = place(of: loop)
        deliveries[index].answers.append(answer)
    }

    private mutating func place(of loop: EventLoop) -> Int {
        if let index = deliveries.firstIndex(where: { $0.loop === loop }) { return index }
        deliveries.append(Delivery(loop: loop))
        return deliveries.count - 1
    }

    /// Removes what goes to other loops than `loop`, and returns it.
    public mutating func split(keeping loop: EventLoop) -> CommitBatch {
        var others = CommitBatch()
        if let own = deliveries.firstIndex(where: { $0.loop === loop }) {
            let kept = deliveries.remove(at: own)
            swap(&others.deliveries, &deliveries)
            deliveries.append(kept)
        } else {
            swap(&others.deliveries, &deliveries)
        }
        return others
    }

    /// Sends all answers to their loops, and is empty afterwards.
    ///
    /// From then on, the answers must be used only on their loops: requests end there, and their objects are reused.
    public mutating func deliver(failure: StoreError?) {
        while let loop = deliveries.last?.loop {
            let parcel = Parcel(deliveries.removeLast())
            loop.post {
                guard let delivery = parcel.take() else { return }
                for answer in delivery.answers { answer(failure) }
            }
        }
    }
}
