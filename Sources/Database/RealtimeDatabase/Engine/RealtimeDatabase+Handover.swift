public import EventLoop
import Synchronization

/// How the databases change hands while the host runs: one process at a time has them open.
extension RealtimeDatabase {
    /// Whether another process could go on with them.
    public var canChangeHands: Bool { storage.canChangeHands }

    /// Commits what has arrived and lets go of every file, so that another process can open them. Answers that are still read go on
    /// seeing the state in which they began; everything else is refused until ``resume()``.
    ///
    /// - Parameter completion: called on `loop` once nothing is open for writing.
    public func suspend(on loop: EventLoop, completion: @escaping () -> Void) {
        let (namespaces, closing) = state.withLock { state in
            state.isSuspended = true
            return (Array(state.namespaces.values), state.closing)
        }
        var left = namespaces.count + (closing.isEmpty ? 0 : 1)
        let finish = { [storage] in
            storage.letGo()
            completion()
        }
        guard left > 0 else { return finish() }
        let counted = LoopBound(
            {
                left -= 1
                if left == 0 { finish() }
            }, loop: loop)
        for namespace in namespaces {
            namespace.suspend { loop.post { counted.value() } }
        }
        if !closing.isEmpty { close(closing, on: loop) { counted.value() } }
    }

    /// Tells of the events that wait in every open namespace, as if it were opened now.
    public func announcePending() {
        for namespace in state.withLock({ Array($0.namespaces.values) }) { namespace.announcePending() }
    }

    /// Calls `completion` on `loop` once every namespace that is open now can be read and written, with the first failure where one
    /// cannot.
    public func whenOpen(on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let namespaces = state.withLock { Array($0.namespaces.values) }
        var left = namespaces.count
        var failure: DatabaseError?
        guard left > 0 else { return completion(nil) }
        let counted = LoopBound(
            { (error: DatabaseError?) in
                failure = failure ?? error
                left -= 1
                if left == 0 { completion(failure) }
            }, loop: loop)
        for namespace in namespaces {
            namespace.onWriter { writer in
                let error = writer.open == nil ? writer.failure : nil
                loop.post { counted.value(error) }
            }
        }
    }

    /// Opens what ``suspend(on:completion:)`` has closed.
    public func resume() {
        let namespaces = state.withLock { state in
            state.isSuspended = false
            return Array(state.namespaces.values)
        }
        try? storage.hold()
        for namespace in namespaces { namespace.resume() }
    }
}

extension DatabaseError {
    /// Another process is about to go on with the databases.
    static let changingHands = DatabaseError(.unavailable, "the host is being upgraded; nothing was done, try again")
}

extension Namespace {
    /// Lets go of the files; `completion` is called on any thread.
    func suspend(completion: @escaping @Sendable () -> Void) {
        isInHaste = true
        onWriter { [self] writer in
            writer.suspend()
            onEachReader({ $0.suspend() }, completion: completion)
        }
    }

    func resume() {
        isInHaste = false
        onWriter { $0.resume() }
    }

    func announcePending() {
        onWriter { $0.announcePending() }
    }
}

extension NamespaceWriter {
    /// Tells of the events that wait. One that cannot be read now is told of when the next one comes.
    func announcePending() {
        guard let open, let pending = (try? open.outbox.pending()) ?? nil else { return }
        settings.didRaiseEvents(pending)
    }

    /// Opens the store again.
    func resume() {
        isSuspended = false
        start()
    }
}
