import EventLoop

/// What waits for a transaction to become durable: answers and news, a list for each loop, so that each loop is woken once.
struct Batch {
    /// Whether there is anything to commit.
    var hasChanges = false
    /// What the profiler is told once it is durable.
    var operations: [Operation] = []
    private var deliveries: [Delivery] = []

    private struct Delivery: Sendable {
        var loop: EventLoop
        var news: [(LoopBound<(ListenerNews) -> Void>, ListenerNews)] = []
        var answers: [@Sendable (DatabaseError?) -> Void] = []
    }

    /// Has `answer` called on `loop` with nil once the transaction is durable, or with why it is not.
    mutating func answer(on loop: EventLoop, _ answer: @escaping @Sendable (DatabaseError?) -> Void) {
        let index = place(of: loop)
        deliveries[index].answers.append(answer)
    }

    /// Has a listener told, if the transaction becomes durable.
    mutating func tell(_ listener: ListenerTree.Listener, _ news: ListenerNews) {
        let index = place(of: listener.loop)
        deliveries[index].news.append((listener.handler, news))
    }

    private mutating func place(of loop: EventLoop) -> Int {
        if let index = deliveries.firstIndex(where: { $0.loop === loop }) { return index }
        deliveries.append(Delivery(loop: loop))
        return deliveries.count - 1
    }

    /// Sends everything on its way, and is empty then: what a write changed goes before that write's answer.
    ///
    /// What is sent belongs to its loop alone from here on: requests end there, and what they have used is used again.
    mutating func deliver(failure: DatabaseError?) {
        while let loop = deliveries.last?.loop {
            let parcel = Parcel(deliveries.removeLast())
            loop.post {
                guard let delivery = parcel.take() else { return }
                if failure == nil { for (handler, news) in delivery.news { handler.value(news) } }
                for answer in delivery.answers { answer(failure) }
            }
        }
    }
}
