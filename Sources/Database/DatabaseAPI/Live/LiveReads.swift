import DequeModule
import EventLoop
import RealtimeDatabase

/// The reads of a live connection that may take long. A few run at a time; the others wait, however many they are, because a client that is refused a
/// listen takes this for its end.
final class LiveReads {
    private struct Read {
        var request: ReadRequest
        var namespace: Namespace
        var completion: (ReadOutcome) -> Void
    }

    private let loop: EventLoop
    private var waiting = Deque<Read>()
    private var running = 0
    private var delay = LiveReads.delayMin
    /// Runs while reads wait for resources that all clients share.
    private lazy var timer = Timer(loop: loop) { [unowned self] in start() }

    private static let runningMax = 16
    private static let delayMin: UInt64 = 50
    private static let delayMax: UInt64 = 2_000

    init(loop: EventLoop) { self.loop = loop }

    /// Reads, now or later. A long value has been admitted when `completion` gets it. One that is cancelled while it waits is refused.
    func read(_ request: ReadRequest, of namespace: Namespace, completion: @escaping (ReadOutcome) -> Void) {
        var request = request
        request.isPatient = true
        waiting.append(Read(request: request, namespace: namespace, completion: completion))
        if !timer.isRunning { start() }
    }

    private func start() {
        while running < Self.runningMax, let next = waiting.popFirst() {
            if next.request.cancellation?.isSet == true {
                next.completion(.refused(.cancelled))
                continue
            }
            running += 1
            next.namespace.read(next.request, on: loop) { [self] in didRead($0, next) }
        }
    }

    private func didRead(_ outcome: ReadOutcome, _ read: Read) {
        running -= 1
        var refusal: DatabaseError?
        switch outcome {
        case .refused(let error): refusal = error
        case .stream(let rest): refusal = rest.admit(client: read.request.client)
        case .value, .node, .notModified: break
        }
        if let refusal, refusal.isTemporary, read.request.cancellation?.isSet != true {
            waiting.prepend(read)
            if !timer.isRunning { timer.start(afterMilliseconds: delay) }
            delay = min(2 * delay, Self.delayMax)
            return
        }
        delay = Self.delayMin
        read.completion(refusal.map { .refused($0) } ?? outcome)
        if !timer.isRunning { start() }
    }
}
