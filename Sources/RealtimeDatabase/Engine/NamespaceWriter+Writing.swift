import Bytes
import EventLoop
import Rules
import Tree

extension NamespaceWriter {
    /// Does a write as a part of this turn's transaction; `answer` is called on `loop` when it is durable.
    func write(_ request: WriteRequest, on loop: EventLoop, answer: LoopBound<(WriteOutcome) -> Void>) {
        inTransaction({ error in loop.post { answer.value(.refused(error)) } }) { open throws(StoreError) in
            let outcome = try perform(request, open)
            batch.answer(on: loop) { failure in answer.value(failure.map { .refused($0) } ?? outcome) }
        }
    }

    private func perform(_ request: WriteRequest, _ open: OpenStore) throws(StoreError) -> WriteOutcome {
        let reader = open.tree.reader
        let now = UnixTime.milliseconds()
        let changes = try resolve(request.operation, reader, now: now)
        if case .user(let auth) = request.principal {
            let trace = try judge(request, auth: auth, changes: changes, reader, now: now)
            if let trace { return .refused(.permissionDenied(trace.explanation)) }
        }
        if let expected = request.ifMatch, let conflict = try conflict(expected, request, reader) { return conflict }
        guard !request.isDryRun else { return .committed(WriteReceipt(commit: commitNumber, value: nil, etag: nil)) }
        if request.raisesTriggers, !request.operation.isPriorityOnly, let refusal = try raiseEvents(request, changes, open, now: now) {
            return .refused(refusal)
        }
        for change in changes { try open.tree.set(change.node, at: change.path) }
        batch.hasChanges = true
        announce(Change(request.operation, changes, commit: commitNumber + 1))
        return .committed(receipt(request, changes))
    }

    private func receipt(_ request: WriteRequest, _ changes: [ResolvedChange]) -> WriteReceipt {
        var receipt = WriteReceipt(commit: commitNumber + 1, value: nil, etag: nil)
        guard request.wantsValue || request.wantsETag else { return receipt }
        var value = Node.empty
        if case .update(let base, _) = request.operation {
            for change in changes { value = value.setting(change.node, at: change.path.relative(to: base)) }
        } else if let change = changes.first {
            value = change.node
        }
        if request.wantsETag { receipt.etag = value.etag }
        if request.wantsValue { receipt.value = value }
        return receipt
    }

    // MARK: What is written

    private func resolve(_ operation: WriteRequest.Operation, _ reader: TreeReader, now: Int64) throws(StoreError) -> [ResolvedChange] {
        switch operation {
        case .set(let path, let draft): return [(path, try resolve(draft, at: path, reader, now: now))]
        case .update(let base, let update):
            var changes: [ResolvedChange] = []
            changes.reserveCapacity(update.members.count)
            for member in update.members {
                let path = base.appending(member.path)
                changes.append((path, try resolve(member.draft, at: path, reader, now: now)))
            }
            return changes
        case .setPriority(let path, let draft):
            var node = try read(path, reader)
            guard !node.isEmpty else { return [] }
            node.priority = Priority(draft.resolved(now: now) { _ in nil })
            return [(path, node)]
        }
    }

    private func resolve(_ draft: Draft, at path: Path, _ reader: TreeReader, now: Int64) throws(StoreError) -> Node {
        guard draft.hasServerValues else { return draft.node }
        let stored = StoredTree(reader)
        let node = draft.resolved(now: now) { stored.leaf(at: path.appending($0).key) }
        if let failure = stored.failure { throw failure }
        return node
    }

    private func read(_ path: Path, _ reader: TreeReader) throws(StoreError) -> Node {
        do throws(ReadError) { return try reader.node(at: path.key, bytesMax: .max) } catch {
            switch error {
            case .store(let error): throw error
            case .tooLarge: return .empty
            }
        }
    }

    // MARK: Whether it may be

    /// Nil where the rules allow it.
    private func judge(
        _ request: WriteRequest, auth: JSONValue?, changes: [ResolvedChange], _ reader: TreeReader, now: Int64
    ) throws(StoreError) -> RuleTrace? {
        let stored = StoredTree(reader)
        let staged = StagedTree(stored, changes: changes)
        let context = RuleContext(auth: auth, now: now)
        var denial: RuleVerdict?
        for change in changes where denial == nil {
            let verdict = rules.write(change.path, value: change.node, context: context, old: stored, new: staged, explains: request.explains)
            if !verdict.isAllowed { denial = verdict }
        }
        if let failure = stored.failure { throw failure }
        return denial
    }

    private func conflict(_ expected: String, _ request: WriteRequest, _ reader: TreeReader) throws(StoreError) -> WriteOutcome? {
        let path = request.operation.path
        let hash = try reader.hash(at: path.key)
        let etag = hash.isEmpty ? Node.emptyETag : hash
        guard etag != expected else { return nil }
        return .conflict(value: [], etag: etag)
    }
}
