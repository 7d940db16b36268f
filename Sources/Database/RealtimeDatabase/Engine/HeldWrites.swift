import EventLoop

/// Writes that arrived before the functions were known. Performed immediately, they would raise no events. Belongs to the writer's thread.
final class HeldWrites {
    private struct Write {
        let deadline: UInt64
        let bytes: Int
        let perform: () -> Void
        let refuse: (DatabaseError) -> Void
    }

    private let loop: EventLoop
    private let limits: HeldWriteLimits
    /// In the order of arrival, which is also that of the deadlines.
    private var writes: [Write] = []
    private var bytes = 0
    /// The error for further writes, when no more are accepted.
    private var end: DatabaseError?
    private lazy var timer = Timer(loop: loop) { [unowned self] in refuseDue() }

    init(loop: EventLoop, limits: HeldWriteLimits) {
        self.loop = loop
        self.limits = limits
    }

    /// The number of waiting writes.
    var count: Int { writes.count }

    /// Stores a write. Exactly one of the two closures is called, once.
    func hold(bytes: Int, perform: @escaping () -> Void, refuse: @escaping (DatabaseError) -> Void) {
        if let end { return refuse(end) }
        guard writes.count < limits.countMax, writes.isEmpty || self.bytes + bytes <= limits.bytesMax else { return refuse(.functionsAreLoading) }
        writes.append(Write(deadline: loop.nowMilliseconds + limits.milliseconds, bytes: bytes, perform: perform, refuse: refuse))
        self.bytes += bytes
        if writes.count == 1 { timer.start(afterMilliseconds: limits.milliseconds) }
    }

    /// Performs all writes, in order.
    func performAll() {
        for write in takeAll() { write.perform() }
    }

    /// Refuses all waiting writes.
    func refuseAll(_ error: DatabaseError) {
        for write in takeAll() { write.refuse(error) }
    }

    /// Refuses all waiting writes, and all later ones.
    func end(_ error: DatabaseError) {
        end = error
        refuseAll(error)
    }

    private func takeAll() -> [Write] {
        defer {
            writes = []
            bytes = 0
            timer.stop()
        }
        return writes
    }

    private func refuseDue() {
        let now = loop.nowMilliseconds
        let due = Array(writes.prefix { $0.deadline <= now })
        writes.removeFirst(due.count)
        bytes -= due.reduce(0) { $0 + $1.bytes }
        if let next = writes.first { timer.start(afterMilliseconds: next.deadline - now) }
        for write in due { write.refuse(.functionsAreLoading) }
    }
}

/// The functions that writes to a namespace trigger, as far as they are known.
struct NamespaceTriggers: Sendable {
    /// Nil if no function has a trigger in the namespace.
    var matcher: TriggerMatcher?
    /// Whether all functions are known. Until then, writes wait.
    var isComplete: Bool
}

extension DatabaseError {
    /// A write has waited too long, or too many writes are waiting.
    static let functionsAreLoading = DatabaseError(
        .unavailable, "the functions that this write may run are still being loaded; nothing was done, try again")
}
