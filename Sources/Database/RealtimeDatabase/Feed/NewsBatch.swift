import EventLoop

/// News for listeners and watches, as a list for each loop, so that each loop is woken once.
struct NewsBatch {
    private enum Item: Sendable {
        case listener(LoopBound<(ListenerNews) -> Void>, ListenerNews)
        case watch(LoopBound<(WatchNews) -> Void>, WatchNews)

        func deliver() {
            switch self {
            case .listener(let handler, let news): handler.value(news)
            case .watch(let handler, let news): handler.value(news)
            }
        }
    }

    private var lists: [(loop: EventLoop, items: [Item])] = []

    mutating func tell(_ listener: ChangeFeed.Listener, _ news: ListenerNews) { add(.listener(listener.handler, news), listener.loop) }

    mutating func tell(_ watch: WatchTable.Watch, _ news: WatchNews) { add(.watch(watch.handler, news), watch.loop) }

    private mutating func add(_ item: Item, _ loop: EventLoop) {
        if let index = lists.firstIndex(where: { $0.loop === loop }) {
            lists[index].items.append(item)
        } else {
            lists.append((loop, [item]))
        }
    }

    /// The number of items that a loop delivers without a pause. It may have more urgent things to do than to deliver thousands.
    private static let itemsAtOnce = 16

    /// Sends all news, and is empty afterwards.
    mutating func send() {
        while let (loop, items) = lists.popLast() {
            for start in stride(from: 0, to: items.count, by: Self.itemsAtOnce) {
                let portion = items[start..<min(start + Self.itemsAtOnce, items.count)]
                loop.post { for item in portion { item.deliver() } }
            }
        }
    }
}
