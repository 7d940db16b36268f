import EventLoop
import Store

/// News for listeners that wait until a transaction is durable, as a list for each loop.
struct ListenerNewsBatch {
    private typealias Item = (handler: LoopBound<(ListenerNews) -> Void>, news: ListenerNews)

    private var lists: [(loop: EventLoop, items: [Item])] = []

    /// Adds news for a listener.
    mutating func tell(_ listener: ListenerTree.Listener, _ news: ListenerNews) {
        if let index = lists.firstIndex(where: { $0.loop === listener.loop }) {
            lists[index].items.append((listener.handler, news))
        } else {
            lists.append((listener.loop, [(listener.handler, news)]))
        }
    }

    /// Moves all news to the batch of a transaction.
    mutating func move(to batch: inout CommitBatch) {
        while let (loop, items) = lists.popLast() {
            batch.announce(on: loop) { for (handler, news) in items { handler.value(news) } }
        }
    }
}
