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

    /// The number of answers that a loop gives without a pause. It may have more urgent things to do than to give thousands.
    private static let answersAtOnce = 16

    /// Sends all answers to their loops, and is empty afterwards.
    ///
    /// From then on, the answers must be used only on their loops: requests end there, and their objects are reused.
    public mutating func deliver(failure: StoreError?) {
        while let loop = deliveries.last?.loop {
            // Nothing of this array is left here when the first answer is given.
            let parcels = Self.parcels(deliveries.removeLast().answers)
            for parcel in parcels {
                loop.post {
                    for answer in parcel.take() ?? [] { answer(failure) }
                }
            }
        }
    }

    private static func parcels(_ answers: consuming [@Sendable (StoreError?) -> Void]) -> [Parcel<[@Sendable (StoreError?) -> Void]>] {
        guard answers.count > answersAtOnce else { return [Parcel(answers)] }
        return stride(from: 0, to: answers.count, by: answersAtOnce).map { start in
            Parcel(Array(answers[start..<min(start + answersAtOnce, answers.count)]))
        }
    }
}
