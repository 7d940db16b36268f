import EventLoop
import Synchronization

/// Reads of a namespace that may take long, waiting for a slow reader. Clients take turns, regardless of which reader is free. Can be used
/// from any thread.
final class ReadTurns: Sendable {
    /// A read that waits for its turn.
    struct QueuedRead: Sendable {
        var request: ReadRequest
        var stopwatch: OperationTimer?
        var namespace: Namespace
        var loop: EventLoop
        var answer: LoopBound<(ReadOutcome) -> Void>

        func refuse(_ error: DatabaseError) {
            loop.post { [answer] in answer.value(.refused(error)) }
        }
    }

    private struct State {
        var queue = FairQueue<QueuedRead>()
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Adds a read.
    ///
    /// - Returns: the error if the read cannot wait; otherwise nil.
    func add(_ read: QueuedRead) -> DatabaseError? {
        state.withLock { state in
            if state.isStopped { return .stopping }
            return state.queue.add(read, of: read.request.client, isPatient: read.request.isPatient) ? nil : .tooManyWait
        }
    }

    /// Takes the next read; nil if none is waiting.
    func next() -> QueuedRead? { state.withLock { $0.queue.next() } }

    var isEmpty: Bool { state.withLock { $0.queue.count == 0 } }

    /// Refuses all waiting reads.
    func refuseAll(_ error: DatabaseError) {
        for read in state.withLock({ $0.queue.takeAll() }) { read.refuse(error) }
    }

    /// Refuses all waiting reads, and all later ones.
    func stop() {
        state.withLock { $0.isStopped = true }
        refuseAll(.stopping)
    }
}

extension NamespaceReaders.Lane {
    /// Makes the reader perform waiting reads one after the other until none is left. The caller must have marked it as busy.
    func work(_ turns: ReadTurns) {
        thread.post { [self] in
            // A new reader does not know the rules yet. Reads that it took now would wait in it and be answered together.
            guard reader.value.rules != nil else {
                return reader.value.wait { [self] _ in work(turns) } refuse: { [self] error in
                    turns.refuseAll(error)
                    becomeIdle(turns)
                }
            }
            let end = EventLoop.monotonicNanoseconds() + Self.turnNanoseconds
            while let next = turns.next() {
                guard next.request.cancellation?.isSet != true else {
                    next.refuse(.cancelled)
                    continue
                }
                // The read may have arrived after this turn's snapshot was taken, and must see writes that were acknowledged before.
                reader.value.endSnapshot()
                reader.value.read(next.request, next.stopwatch, of: next.namespace, on: next.loop, answer: next.answer)
                // The rest is read in another turn of the loop, from a newer snapshot.
                if EventLoop.monotonicNanoseconds() >= end { return work(turns) }
            }
            becomeIdle(turns)
        }
    }

    private func becomeIdle(_ turns: ReadTurns) {
        isBusy.store(false, ordering: .sequentiallyConsistent)
        // A read that came meanwhile found this reader busy.
        if !turns.isEmpty, becomesBusy() { work(turns) }
    }

    /// Marks an idle reader as busy. Returns false if it is already busy.
    func becomesBusy() -> Bool { isBusy.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged }

    private static let turnNanoseconds: UInt64 = 2_000_000
}
