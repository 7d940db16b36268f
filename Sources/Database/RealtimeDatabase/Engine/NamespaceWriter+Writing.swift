import HearthBytes
import EventLoop
import HearthJSON
import Rules
import Store
import Tree

extension NamespaceWriter {
    /// Performs a write as a part of this turn's transaction. `answer` is called on `loop` when it is durable.
    ///
    /// - Parameter namespace: keeps the namespace open until then.
    func write(
        _ request: WriteRequest, _ stopwatch: OperationTimer?, of namespace: Namespace, on loop: EventLoop,
        answer: LoopBound<(WriteOutcome) -> Void>
    ) {
        if let heldWrites, request.raisesTriggers {
            return heldWrites.hold(bytes: request.bytes) { [unowned self] in
                write(request, stopwatch, of: namespace, on: loop, answer: answer)
            } refuse: { [unowned self] error in
                figures.addFailed(request.operation)
                loop.post { answer.value(.refused(error)) }
            }
        }
        guard request.ifMatch != nil else { return perform(request, stopwatch, on: loop, answer: answer) }
        enterContest(request) { [unowned self] in
            compare(request, of: namespace) { [unowned self] in
                perform(request, stopwatch, on: loop, answer: answer)
            } answer: { [unowned self] outcome in
                figures.addFailed(request.operation)
                didContend(request, outcome)
                loop.post { answer.value(outcome) }
            }
        }
    }

    private func perform(_ request: WriteRequest, _ stopwatch: OperationTimer?, on loop: EventLoop, answer: LoopBound<(WriteOutcome) -> Void>) {
        var stopwatch = stopwatch
        stopwatch?.begin()
        inTurn({ error in
            figures.addFailed(request.operation)
            loop.post { answer.value(.refused(error)) }
        }) { open throws(StoreError) in
            let outcome = try perform(request, open)
            figures.add(request.operation, outcome)
            didContend(request, outcome)
            if let operation = Operation(request, outcome, stopwatch) { operations.append(operation) }
            batch.answer(on: loop) { failure in answer.value(failure.map { .refused(DatabaseError($0)) } ?? outcome) }
        }
    }

    func perform(_ request: WriteRequest, _ open: NamespaceContent) throws(StoreError) -> WriteOutcome {
        let reader = open.tree.reader
        let now = UnixTime.milliseconds()
        var changes: [ResolvedChange]
        do throws(WriteFailure) { changes = try resolve(request, reader, now: now) } catch {
            switch error {
            case .store(let error): throw error
            case .refused(let error): return .refused(error)
            }
        }
        var mayRead = true
        if case .user(let auth) = request.principal {
            let verdict = try judge(changes, request, auth: auth, rules, reader, now: now)
            if !verdict.isAllowed { return .refused(.permissionDenied(verdict.trace)) }
            if request.revealsStored { mayRead = try isReadable(request.operation.path, auth: auth, reader, now: now) }
            // A matching etag reveals the stored value just as a different one does.
            if request.ifMatch != nil, !mayRead { return .refused(.permissionDenied()) }
        }
        // Priorities of absent nodes are removed only after judging, because not every user may learn whether a node exists.
        changes.removeAll { $0.isPriorityOnly && $0.node.isEmpty }
        if let once = request.once, try OnceMarks(open.store).contains(once.bytes, now: now) {
            return .committed(WriteReceipt(commit: commitNumber + (hasChanges ? 1 : 0), isRepetition: true))
        }
        if let expected = request.ifMatch, let conflict = try conflict(expected, request, reader) { return conflict }
        if request.once == nil, try isWithoutEffect(changes, reader) { return .committed(receipt(request, changes, mayRead: mayRead)) }
        if request.raisesTriggers, let refusal = try raiseEvents(request, changes, open, now: now) { return .refused(refusal) }
        try apply(changes, base: request.operation.path, open.tree)
        if let once = request.once { try OnceMarks(open.store).add(once.bytes, until: now + once.milliseconds, now: now) }
        hasChanges = true
        announce(request.operation, changes)
        return .committed(receipt(request, changes, mayRead: mayRead))
    }

    /// Whether a write only deletes nodes that do not exist. Then nothing is committed.
    private func isWithoutEffect(_ changes: [ResolvedChange], _ reader: TreeReader) throws(StoreError) -> Bool {
        for change in changes {
            guard change.node.isEmpty else { return false }
            if try reader.exists(at: change.key) { return false }
        }
        return true
    }

    /// Judges a write by rules, without performing it.
    func judge(_ request: WriteRequest, by rules: RuleSet?, answer: @escaping @Sendable (Result<RuleVerdict, DatabaseError>) -> Void) {
        guard let open = content else { return answer(.failure(refusal)) }
        answer(Result { () throws(DatabaseError) in try verdict(of: request, by: rules, open) })
    }

    /// The verdict on a write by the rules in force or by others, without performing it.
    func verdict(of request: WriteRequest, by rules: RuleSet? = nil, _ open: NamespaceContent) throws(DatabaseError) -> RuleVerdict {
        do throws(WriteFailure) {
            let reader = open.tree.reader
            let now = UnixTime.milliseconds()
            let changes = try resolve(request, reader, now: now)
            guard case .user(let auth) = request.principal else { return .allowed }
            do throws(StoreError) {
                return try judge(changes, request, auth: auth, rules ?? self.rules, reader, now: now)
            } catch {
                throw .store(error)
            }
        } catch {
            switch error {
            case .store(let error): throw DatabaseError(error)
            case .refused(let error): throw error
            }
        }
    }

    /// Raises the events of a write. Returns an error if they exceed the limits.
    private func raiseEvents(
        _ request: WriteRequest, _ changes: [ResolvedChange], _ open: NamespaceContent, now: Int64
    ) throws(StoreError) -> DatabaseError? {
        guard let triggers else { return nil }
        let values = changes.filter { !$0.isPriorityOnly }.map { (path: $0.path, node: $0.node) }
        guard !values.isEmpty else { return nil }
        let refusal = try open.outbox.raise(
            triggers, changes: values, old: open.tree.reader, limits: triggerLimits, now: now, origin: request.origin,
            chain: request.chain, trace: request.trace)
        return refusal.map { DatabaseError(.tooManyTriggers, $0.message) }
    }

    private func apply(_ changes: [ResolvedChange], base: Path, _ tree: TreeWriter) throws(StoreError) {
        hashes.willChange(changes.lazy.map(\.key), base: base.key, state: commitNumber + 1)
        for change in changes where change.isPriorityOnly { try tree.setPriority(change.node.priority, at: change.path) }
        // Deletions come last, so that no ancestor is empty for a moment, in which it would lose its priority.
        let values = changes.lazy.filter { !$0.isPriorityOnly }
        for change in values where !change.node.isEmpty { try tree.set(change.node, at: change.key) }
        for change in values where change.node.isEmpty { try tree.set(.empty, at: change.key) }
    }

    private func announce(_ operation: WriteRequest.Operation, _ changes: [ResolvedChange]) {
        guard listenerCount > 0 else { return }
        if case .update(let base, _) = operation {
            let members = changes.map { (path: $0.path.relative(to: base) ?? .root, node: $0.node) }
            announce(TreeChange(path: base, kind: .patch(members), commit: commitNumber + 1))
        } else if let change = changes.first {
            announce(TreeChange(path: change.path, kind: .put(change.node), commit: commitNumber + 1))
        }
    }

    /// - Parameter mayRead: whether the writer may read the stored value, which an incremented number would reveal.
    private func receipt(_ request: WriteRequest, _ changes: [ResolvedChange], mayRead: Bool) -> WriteReceipt {
        var receipt = WriteReceipt(commit: commitNumber + (hasChanges ? 1 : 0), value: nil, etag: nil)
        guard request.wantsValue || request.wantsETag, mayRead else { return receipt }
        let value = changes.first?.node ?? .empty
        if request.wantsETag { receipt.etag = value.etag.text }
        if request.wantsValue { receipt.value = value }
        return receipt
    }

    // MARK: Written values

    /// The reason why the written values cannot be determined.
    private enum WriteFailure: Error {
        case store(StoreError)
        case refused(DatabaseError)
    }

    private func resolve(_ request: WriteRequest, _ reader: TreeReader, now: Int64) throws(WriteFailure) -> [ResolvedChange] {
        switch request.operation {
        case .set(let path, let draft):
            return [ResolvedChange(path: path, node: try resolve(draft, at: path, reader, now: now))]
        case .update(let base, let update):
            var changes: [ResolvedChange] = []
            changes.reserveCapacity(update.members.count + update.priorities.count)
            for member in update.members {
                let path = base.appending(member.path)
                changes.append(ResolvedChange(path: path, node: try resolve(member.draft, at: path, reader, now: now)))
            }
            for member in update.priorities {
                changes.append(try resolve(priority: member.draft, at: base.appending(member.path), request, reader, now: now))
            }
            return changes
        case .setPriority(let path, let draft): return [try resolve(priority: draft, at: path, request, reader, now: now)]
        }
    }

    private func resolve(_ draft: Draft, at path: Path, _ reader: TreeReader, now: Int64) throws(WriteFailure) -> Node {
        guard !draft.isResolved else { return draft.node }
        do throws(StoreError) {
            return try draft.resolved(now: now) { place throws(StoreError) in try reader.leaf(at: path.appending(place).key) }
        } catch {
            throw .store(error)
        }
    }

    /// The node at `path` with another priority; empty if it does not exist.
    private func resolve(
        priority draft: Draft, at path: Path, _ request: WriteRequest, _ reader: TreeReader, now: Int64
    ) throws(WriteFailure) -> ResolvedChange {
        var change = ResolvedChange(path: path, node: Node(.boolean(true)), isPriorityOnly: true)
        change.node.priority = draft.resolved(now: now) { _ in nil }.leaf.flatMap { Priority($0) }
        let isThere: Bool
        let mayBe: Bool
        do throws(StoreError) {
            isThere = try reader.exists(at: change.key)
            mayBe = if !isThere || request.explains { true } else { try isGranted(change, request, reader, now: now) }
        } catch {
            throw .store(error)
        }
        guard isThere else { return ResolvedChange(path: path, node: .empty, isPriorityOnly: true) }
        // A large node is not read for users without permission.
        guard mayBe else { throw .refused(.permissionDenied()) }
        if isLookedAt(request) { change.node = try read(path, reader, priority: change.node.priority) }
        return change
    }

    private func read(_ path: Path, _ reader: TreeReader, priority: Priority?) throws(WriteFailure) -> Node {
        do throws(ReadError) {
            var node = try reader.node(at: path.key, bytesMax: settings.limits.writeBytesMax)
            node.priority = priority
            return node
        } catch {
            switch error {
            case .store(let error): throw .store(error)
            case .tooLarge: throw .refused(.writeTooLarge)
            }
        }
    }

    /// Whether rules, listeners or the sender need the written values.
    private func isLookedAt(_ request: WriteRequest) -> Bool {
        if case .user = request.principal { return true }
        return listenerCount > 0 || request.wantsValue || request.wantsETag
    }

    // MARK: Permission

    private func judge(
        _ changes: [ResolvedChange], _ request: WriteRequest, auth: JSONValue?, _ rules: RuleSet, _ reader: TreeReader, now: Int64
    ) throws(StoreError) -> RuleVerdict {
        let stored = StoredTree(reader)
        let staged = StagedTree(stored, changes: changes)
        let context = RuleContext(auth: auth, now: now)
        guard !changes.isEmpty else {
            // An empty update is allowed for users who may write at its path.
            return RuleVerdict(isAllowed: try rules.grantsWrite(request.operation.path, context: context, old: stored, new: staged))
        }
        var budget = rules.budget()
        var result = RuleVerdict.allowed
        for change in changes {
            result = try rules.write(
                change.path, value: change.node, context: context, old: stored, new: staged, explains: request.explains, budget: &budget)
            guard result.isAllowed else { break }
        }
        return result
    }

    /// Whether a `.write` rule allows a user to change the priority of a node. Can be determined without reading the node.
    private func isGranted(_ change: ResolvedChange, _ request: WriteRequest, _ reader: TreeReader, now: Int64) throws(StoreError) -> Bool {
        guard case .user(let auth) = request.principal else { return true }
        let stored = StoredTree(reader)
        return try rules.grantsWrite(
            change.path, context: RuleContext(auth: auth, now: now), old: stored, new: StagedTree(stored, changes: [change]))
    }

    private func isReadable(_ path: Path, auth: JSONValue?, _ reader: TreeReader, now: Int64) throws(StoreError) -> Bool {
        try rules.read(path, query: nil, context: RuleContext(auth: auth, now: now), data: StoredTree(reader)).isAllowed
    }

    /// The outcome if the node has another etag; nil if it has the expected one.
    private func conflict(_ expected: String, _ request: WriteRequest, _ reader: TreeReader) throws(StoreError) -> WriteOutcome? {
        let key = request.operation.path.key
        let scanGuard = makeGuard(request)
        var reader = reader
        reader.scanGuard = scanGuard
        var buffer = ByteBuffer()
        do throws(ReadError) {
            let etag: EntityTag
            do throws(StoreError) { etag = try self.etag(at: key, reader, scanGuard) } catch { throw .store(error) }
            guard !etag.matches(expected) else { return nil }
            guard request.wantsConflictingValue else { return .conflict(value: [], etag: etag.text) }
            try reader.write(at: key, form: .value, isPretty: false, bytesMax: settings.limits.readBytesMax, into: &buffer)
            return .conflict(value: buffer.array(), etag: etag.text)
        } catch {
            if let failure = scanGuard.failure { return .refused(failure) }
            if case .store(let error) = error { throw error }
            return .refused(.readTooLarge)
        }
    }

    private func etag(at key: PathKey, _ reader: TreeReader, _ scanGuard: ScanGuard) throws(StoreError) -> EntityTag {
        if let known = hashes.etag(at: key, in: nil) { return known }
        let etag = try reader.etag(at: key)
        // The changes of this turn may be undone.
        if !hasChanges { hashes.keep(etag, at: key, in: commitNumber, rows: scanGuard.rows) }
        return etag
    }
}

/// A written path and its new node, with server values resolved.
struct ResolvedChange {
    let path: Path
    /// The path in the encoding of rows, computed once.
    let key: PathKey
    var node: Node
    /// Whether the node is unchanged except for its priority.
    let isPriorityOnly: Bool

    init(path: Path, node: Node, isPriorityOnly: Bool = false) {
        self.path = path
        key = path.key
        self.node = node
        self.isPriorityOnly = isPriorityOnly
    }
}
