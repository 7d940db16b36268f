import EventLoop

/// Lets a few of a plugin's calls at a time ask for values: how much memory a value takes is known only when it is there.
///
/// The others wait in their order; they are few, because a worker is not read from while its plugin has its share of the memory. Belongs
/// to the dispatcher's loop.
package final class ServiceGate {
    private let loop: EventLoop
    private let share: MemoryShare
    private var inFlight = 0
    private var isAdmitting = false
    private var waiting = FIFO<(@escaping () -> Void) -> Void>()
    private lazy var timer = Timer(loop: loop) { [unowned self] in admit() }

    /// How many values are read at a time, and how often it is looked whether there is room again.
    private static let inFlightMax = 32
    private static let roomMilliseconds: UInt64 = 5

    package init(loop: EventLoop, share: MemoryShare) {
        self.loop = loop
        self.share = share
    }

    /// Runs `act` when there is room for an answer. It must call what it is given once it has its answer.
    package func enter(_ act: @escaping (_ leave: @escaping () -> Void) -> Void) {
        waiting.append(act)
        admit()
    }

    private func admit() {
        // Synchronous answers must not recurse.
        guard !isAdmitting else { return }
        isAdmitting = true
        defer { isAdmitting = false }
        while inFlight < Self.inFlightMax, !share.isFull, let act = waiting.popFirst() {
            inFlight += 1
            act { [self] in
                inFlight -= 1
                admit()
            }
        }
        // The share may be full of answers on their way to workers; their departure is not announced, so poll.
        if inFlight == 0, !waiting.isEmpty { timer.start(afterMilliseconds: Self.roomMilliseconds) }
    }
}
