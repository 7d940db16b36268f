import DequeModule
import EventLoop

/// Limits how many service calls of a plugin read values at the same time, because the memory that a value takes is known only afterwards.
///
/// Other calls wait in order. Their number is limited, because the host stops reading from a worker whose plugin has used up its share of the
/// memory. Belongs to the dispatcher's loop.
package final class ServiceGate {
    private let loop: EventLoop
    private let share: MemoryShare
    private var inFlight = 0
    private var isAdmitting = false
    private var waiting = Deque<(@escaping () -> Void) -> Void>()
    private lazy var timer = Timer(loop: loop) { [unowned self] in admit() }

    /// The most values that are read at the same time, and the interval for checking whether memory is free again.
    private let inFlightMax: Int
    private static let roomMilliseconds: UInt64 = 5

    package init(loop: EventLoop, share: MemoryShare, inFlightMax: Int = 32) {
        self.loop = loop
        self.share = share
        self.inFlightMax = inFlightMax
    }

    /// Runs `act` when there is memory for an answer. It must call `leave` when it has its answer.
    package func enter(_ act: @escaping (_ leave: @escaping () -> Void) -> Void) {
        waiting.append(act)
        admit()
    }

    private func admit() {
        // Prevents recursion if `act` answers synchronously.
        guard !isAdmitting else { return }
        isAdmitting = true
        defer { isAdmitting = false }
        while inFlight < inFlightMax, !share.isFull, let act = waiting.popFirst() {
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
