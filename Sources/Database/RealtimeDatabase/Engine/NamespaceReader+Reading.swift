import EventLoop
import HearthBytes
import Rules
import Tree

/// One read, in the snapshot of its turn.
extension NamespaceReader {
    func perform(_ request: ReadRequest, _ rules: RuleSet, _ snapshot: Snapshot) throws(ReadError) -> ReadOutcome {
        if let denial = try denial(request, rules, snapshot) { return .refused(denial) }
        var etag: String?
        if request.wantsETag || request.ifNoneMatch != nil {
            let found = try self.etag(of: request, snapshot)
            if found == request.ifNoneMatch { return .notModified(etag: found) }
            etag = found
        }
        return try value(of: request, rules, snapshot, etag: etag)
    }

    /// What the rules say of a read, without reading.
    func judge(
        _ request: ReadRequest, by rules: RuleSet?, of namespace: Namespace, answer: @escaping @Sendable (Result<RuleVerdict, DatabaseError>) -> Void
    ) {
        guard let rules = rules ?? self.rules else {
            return wait { [self] in judge(request, by: $0, of: namespace, answer: answer) } refuse: { answer(.failure($0)) }
        }
        do throws(ReadError) { answer(.success(try verdict(request, rules, try snapshot()))) } catch { answer(.failure(refusal(error))) }
    }

    /// Whether a read is allowed in the newest committed state, and for how long that holds.
    func permission(
        _ request: ReadRequest, of namespace: Namespace, answer: @escaping @Sendable (Result<ReadPermission, DatabaseError>) -> Void
    ) {
        guard let rules else {
            return wait { [self] _ in permission(request, of: namespace, answer: answer) } refuse: { answer(.failure($0)) }
        }
        do throws(ReadError) {
            let snapshot = try snapshot()
            let isAllowed = try verdict(request, rules, snapshot).isAllowed
            answer(.success(ReadPermission(
                isAllowed: isAllowed, commit: snapshot.commit, dependsOnState: rules.readDependsOnState(request.path))))
        } catch {
            answer(.failure(refusal(error)))
        }
    }

    private func verdict(_ request: ReadRequest, _ rules: RuleSet, _ snapshot: Snapshot) throws(ReadError) -> RuleVerdict {
        guard case .user(let auth) = request.principal else { return .allowed }
        let stored = StoredTree(snapshot.reader)
        let context = RuleContext(auth: auth, now: UnixTime.milliseconds())
        let verdict = rules.read(request.path, query: request.query, context: context, data: stored, explains: request.explains)
        if let failure = stored.failure { throw .store(failure) }
        return verdict
    }

    private func denial(_ request: ReadRequest, _ rules: RuleSet, _ snapshot: Snapshot) throws(ReadError) -> DatabaseError? {
        let verdict = try verdict(request, rules, snapshot)
        if !verdict.isAllowed { return .permissionDenied(verdict.trace) }
        if let query = request.query, !rules.hasIndex(at: request.path, order: query.order) {
            return .indexNotDefined(query.order, at: request.path)
        }
        return nil
    }

    private func etag(of request: ReadRequest, _ snapshot: Snapshot) throws(ReadError) -> String {
        let key = request.path.key
        if let known = hashes.hash(at: key.bytes, in: snapshot.commit) { return known }
        do throws(StoreError) {
            let before = snapshot.reader.scanGuard?.rows ?? 0
            let hash = try snapshot.reader.hash(at: key)
            let etag = hash.isEmpty ? Node.emptyETag : hash
            hashes.keep(etag, at: key.bytes, in: snapshot.commit, rows: (snapshot.reader.scanGuard?.rows ?? 0) - before)
            return etag
        } catch {
            throw .store(error)
        }
    }

    private func value(of request: ReadRequest, _ rules: RuleSet, _ snapshot: Snapshot, etag: String?) throws(ReadError) -> ReadOutcome {
        scratch.clear(keepingAtMost: 1024 * 1024)
        let key = request.path.key
        switch request.kind {
        case .value:
            if try writeLeaf(at: key, request.form, snapshot) { break }
            let stream = JSONStream(snapshot.reader, at: key, form: request.form, isPretty: request.isPretty)
            if let outcome = try begin(stream, request, snapshot, etag: etag) { return outcome }
        case .query(let query):
            let stream = try JSONStream(
                snapshot.reader, query: query, at: key, form: request.form, isPretty: request.isPretty, bytesMax: request.bytesMax)
            if let outcome = try begin(stream, request, snapshot, etag: etag) { return outcome }
        case .shallow(let limit, let startAfter):
            try snapshot.reader.shallow(
                at: key, limit: limit, startAfter: startAfter, isPretty: request.isPretty, bytesMax: request.bytesMax, into: &scratch)
        case .priority:
            try writePriority(at: key, snapshot)
        }
        guard scratch.count <= request.bytesMax else { throw .tooLarge }
        return .value(json: scratch.array(), etag: etag, commit: snapshot.commit)
    }

    /// Appends the value of a leaf as it is stored, the shortest way; false where there is none, or where its priority may have to
    /// be said too.
    private func writeLeaf(at key: PathKey, _ form: JSONForm, _ snapshot: Snapshot) throws(ReadError) -> Bool {
        guard form == .value else { return false }
        do throws(StoreError) { return try snapshot.reader.appendLeaf(at: key, to: &scratch) } catch { throw .store(error) }
    }

    /// Makes the first piece of an answer; the outcome, with the snapshot that the rest needs, when there is more.
    private func begin(_ stream: JSONStream, _ request: ReadRequest, _ snapshot: Snapshot, etag: String?) throws(ReadError) -> ReadOutcome? {
        guard try stream.next(into: &scratch, atLeast: Self.pieceBytes) else { return nil }
        // What has not begun can still be refused.
        guard scratch.count <= request.bytesMax else { throw .tooLarge }
        if let refusal = longAnswerRefusal { return .refused(refusal) }
        current = nil
        snapshot.store.isFrugal = true
        var request = request
        if !request.principal.isAdmin {
            let latest = EventLoop.monotonicNanoseconds() + UInt64(settings.limits.readSeconds * 1e9)
            request.deadline = request.deadline == 0 ? latest : min(request.deadline, latest)
        }
        return .stream(ValueStream(first: scratch.array(), rest: stream, snapshot: snapshot, reader: self, request: request, etag: etag))
    }

    private func writePriority(at key: PathKey, _ snapshot: Snapshot) throws(ReadError) {
        do throws(StoreError) {
            guard let priority = try snapshot.reader.priority(at: key) else { return scratch.append("null") }
            priority.write(to: &scratch)
        } catch {
            throw .store(error)
        }
    }
}
