public import EventLoop
import Store
import Synchronization

/// Passing the databases to another process during an upgrade. Only one process at a time has them open.
extension RealtimeDatabase {
    /// Whether another process can take over the databases.
    public var canChangeHands: Bool { storage.canChangeHands }

    /// Commits the current transactions and closes all files, so that another process can open them. Answers that are being read continue with
    /// their snapshots. Everything else is refused until ``resume()``.
    ///
    /// - Parameter completion: called on `loop` when no file is open for writing.
    public func suspend(on loop: EventLoop, completion: @escaping () -> Void) {
        let (namespaces, closing) = state.withLock { state in
            state.isSuspended = true
            return (state.leases, state.closing)
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

    /// Announces the waiting events of all open namespaces, as when they are opened.
    public func announcePending() {
        for namespace in state.withLock({ $0.leases }) { namespace.announcePending() }
    }

    /// Calls `completion` on `loop` when all open namespaces can be read and written, or with the first error if one cannot.
    public func whenOpen(on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let namespaces = state.withLock { $0.leases }
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
                let error = writer.content == nil ? writer.refusal : nil
                loop.post { counted.value(error) }
            }
        }
    }

    /// Opens the files that ``suspend(on:completion:)`` has closed.
    public func resume() {
        let namespaces = state.withLock { state in
            state.isSuspended = false
            return state.leases
        }
        try? storage.hold()
        for namespace in namespaces { namespace.resume() }
    }
}

extension DatabaseError {
    /// Another process is taking over the databases.
    static let changingHands = DatabaseError(.unavailable, "the host is being upgraded; nothing was done, try again")
}

extension Namespace {
    /// Closes the files. `completion` is called on any thread.
    func suspend(completion: @escaping @Sendable () -> Void) {
        open.isInHaste = true
        onWriter { [self] writer in
            writer.close()
            open.readers.closePoints()
            onEachReader({ $0.suspend() }, completion: completion)
        }
    }

    func resume() {
        open.isInHaste = false
        onWriter { $0.reopen() }
    }

    func announcePending() {
        onWriter { $0.announcePending() }
    }
}

extension NamespaceWriter {
    /// Announces the waiting events. If they cannot be read now, they are announced together with the next one.
    func announcePending() {
        guard let open = content, let pending = (try? open.outbox.pending()) ?? nil else { return }
        settings.didRaiseEvents(pending)
    }
}
