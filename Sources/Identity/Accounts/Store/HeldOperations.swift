import EventLoop

/// Operations that create or delete users, and arrived before the functions were known that run on that. Performed at once, they would raise no
/// events. Belongs to the writer's thread.
final class HeldOperations {
    private let loop: EventLoop
    private var operations: [(_ isPossible: Bool) -> Void] = []
    private lazy var timer = Timer(loop: loop) { [unowned self] in end(performing: false) }

    private static let countMax = 1000
    /// The time after which clients are asked to try again.
    private static let milliseconds: UInt64 = 30_000

    init(loop: EventLoop) { self.loop = loop }

    /// Keeps an operation, which is called once: with true to be performed, or with false to be refused.
    func add(_ operation: @escaping (_ isPossible: Bool) -> Void) {
        guard operations.count < Self.countMax else { return operation(false) }
        operations.append(operation)
        if operations.count == 1 { timer.start(afterMilliseconds: Self.milliseconds) }
    }

    /// Performs or refuses all operations, in order.
    func end(performing isPossible: Bool) {
        guard !operations.isEmpty else { return }
        timer.stop()
        let all = operations
        operations = []
        for operation in all { operation(isPossible) }
    }

    /// Refuses all operations. Nothing is added afterwards.
    func close() {
        end(performing: false)
        timer.close()
    }
}
