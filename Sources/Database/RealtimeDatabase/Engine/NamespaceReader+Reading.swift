import EventLoop
import HearthBytes
import Rules
import Store
import Tree

/// Performs reads in the snapshot of the current turn.
extension NamespaceReader {
    func perform(_ request: ReadRequest, _ rules: RuleSet, _ snapshot: Snapshot) throws(ReadError) -> ReadOutcome {
        if let denial = try denial(request, rules, snapshot) { return .refused(denial) }
        if request.wantsNode, let query = request.query {
            return .node(try snapshot.reader.query(query, at: request.path, bytesMax: request.bytesMax), commit: snapshot.commit)
        }
        var etag: String?
        if request.wantsETag || request.ifNoneMatch != nil {
            let found = try self.etag(of: request, snapshot)
            if let known = request.ifNoneMatch, found.matches(known) { return .notModified(etag: known, commit: snapshot.commit) }
            etag = found.text
        }
        return try value(of: request, snapshot, etag: etag)
    }

    /// Judges a read by rules, without reading.
    func judge(
        _ request: ReadRequest, by rules: RuleSet?, of namespace: Namespace, answer: @escaping @Sendable (Result<RuleVerdict, DatabaseError>) -> Void
    ) {
        do throws(ReadError) {
            if let rules { return answer(.success(try request.verdict(of: rules, in: StoredTree(try snapshot().reader)))) }
            guard let (rules, snapshot) = try rulesInForce() else {
                return wait { [self] _ in judge(request, by: nil, of: namespace, answer: answer) } refuse: { answer(.failure($0)) }
            }
            answer(.success(try request.verdict(of: rules, in: StoredTree(snapshot.reader))))
        } catch {
            answer(.failure(refusal(error)))
        }
    }

    /// Whether a read is allowed in the newest committed state, and how long that holds.
    func permission(
        _ request: ReadRequest, of namespace: Namespace, answer: @escaping @Sendable (Result<ReadPermission, DatabaseError>) -> Void
    ) {
        do throws(ReadError) {
            guard let (rules, snapshot) = try rulesInForce() else {
                return wait { [self] _ in permission(request, of: namespace, answer: answer) } refuse: { answer(.failure($0)) }
            }
            let tree = WatchedTree(StoredTree(snapshot.reader))
            let isAllowed = try request.verdict(of: rules, in: tree).isAllowed
            let dependence = rules.readDependence(request.path)
            let duration: ReadPermission.Duration
            if dependence.isEmpty {
                duration = .always
            } else if dependence == .data, let places = tree.watched {
                duration = .untilChange(of: places)
            } else {
                duration = .once
            }
            answer(.success(ReadPermission(isAllowed: isAllowed, commit: snapshot.commit, duration: duration)))
        } catch {
            answer(.failure(refusal(error)))
        }
    }

    /// The newest state and its rules; nil if they are not known yet.
    private func rulesInForce() throws(ReadError) -> (RuleSet, Snapshot)? {
        guard let rules else { return nil }
        let snapshot = try snapshot()
        return snapshot.mark.rules == rules.commit ? (rules.rules, snapshot) : nil
    }

    private func denial(_ request: ReadRequest, _ rules: RuleSet, _ snapshot: Snapshot) throws(ReadError) -> DatabaseError? {
        let verdict = try request.verdict(of: rules, in: StoredTree(snapshot.reader))
        if !verdict.isAllowed { return .permissionDenied(verdict.trace) }
        if let query = request.query, !request.mayLackIndex, !rules.hasIndex(at: request.path, order: query.order) {
            return .indexNotDefined(query.order, at: request.path)
        }
        return nil
    }

    private func etag(of request: ReadRequest, _ snapshot: Snapshot) throws(ReadError) -> EntityTag {
        if let query = request.query { return try snapshot.reader.query(query, at: request.path, bytesMax: request.bytesMax).etag }
        let key = request.path.key
        if let known = hashes.etag(at: key, in: snapshot.commit) { return known }
        do throws(StoreError) {
            let before = snapshot.reader.scanGuard?.rows ?? 0
            let etag = try snapshot.reader.etag(at: key)
            hashes.keep(etag, at: key, in: snapshot.commit, rows: (snapshot.reader.scanGuard?.rows ?? 0) - before)
            return etag
        } catch {
            throw .store(error)
        }
    }

    private func value(of request: ReadRequest, _ snapshot: Snapshot, etag: String?) throws(ReadError) -> ReadOutcome {
        scratch.clear(keepingAtMost: 1024 * 1024)
        let key = request.path.key
        switch request.kind {
        case .value:
            if try writeLeaf(at: key, request.form, snapshot) { break }
            if let hashes = request.clientRanges {
                let comparison = try snapshot.reader.compare(hashes, at: key)
                if case .same = comparison { return .notModified(etag: etag ?? "", commit: snapshot.commit) }
                if case .different(let runs) = comparison {
                    let stream = RangeStream(snapshot.reader, at: key, hashes, runs)
                    if let outcome = try begin(stream, request, snapshot, etag: etag) { return outcome }
                    break
                }
            }
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

    /// Appends the stored value of a leaf, which is the fastest way. Returns false if there is no leaf, or if its priority may have to be
    /// written too.
    private func writeLeaf(at key: PathKey, _ form: JSONForm, _ snapshot: Snapshot) throws(ReadError) -> Bool {
        guard form == .value else { return false }
        do throws(StoreError) { return try snapshot.reader.appendLeaf(at: key, to: &scratch) } catch { throw .store(error) }
    }

    /// Produces the first piece of an answer. If there is more, the outcome contains the snapshot for the rest.
    private func begin(_ stream: any JSONSource, _ request: ReadRequest, _ snapshot: Snapshot, etag: String?) throws(ReadError) -> ReadOutcome? {
        guard try stream.next(into: &scratch, atLeast: Self.pieceBytes) else { return nil }
        // An answer that has not begun can still be refused.
        guard scratch.count <= request.bytesMax else { throw .tooLarge }
        let seat: Seats<String>.Seat
        do throws(DatabaseError) { seat = try admitLongAnswer() } catch { return .refused(error) }
        current = nil
        snapshot.store.isFrugal = true
        var request = request
        if !request.principal.isAdmin {
            let latest = EventLoop.monotonicNanoseconds() + UInt64(settings.limits.readSeconds * 1e9)
            request.deadline = request.deadline == 0 ? latest : min(request.deadline, latest)
        }
        let source = ValueStream.Source(
            stream, self, snapshot, seat, bytesLeft: request.bytesMax - scratch.count, deadline: request.deadline)
        return .stream(ValueStream(first: scratch.array(), rest: source, commit: snapshot.commit, etag: etag))
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

extension ReadRequest {
    /// Whether rules allow the read in a state of the tree.
    func verdict(of rules: RuleSet, in tree: some RuleData<StoreError>) throws(ReadError) -> RuleVerdict {
        guard case .user(let auth) = principal else { return .allowed }
        let context = RuleContext(auth: auth, now: UnixTime.milliseconds())
        do throws(StoreError) {
            return try rules.read(path, query: query, context: context, data: tree, explains: explains)
        } catch {
            throw .store(error)
        }
    }
}
