import EventLoop
import HearthBytes
import RealtimeDatabase
import Tree

/// A listen of a live connection (spec database 3.6): sends the value of a place or the result of a query, then the changes.
///
/// While the client does not read, only the newest value is kept for it. A user gets a change when the rules have allowed the read in a state
/// that contains the change.
final class LiveListen: TopicMember, JudgedListener {
    /// Released with the listen: the connection forgets its listens when it ends.
    let connection: LiveConnection
    let path: Path
    let query: LiveQuery
    let tag: Int?
    var copy: LiveCopy
    var request: ReadRequest
    private(set) var namespace: Namespace?
    private(set) var topic: ListenTopic?
    var topicPlace = 0
    var state = State.waiting
    /// The answer to the listen, until it is given.
    private(set) var reply: LiveReply?
    /// The state of the tree that was read last. The changes of later ones follow; several may be of one commit.
    private var commit: UInt64 = 0
    /// The first value, nil if the client has it, until the result of the query is followed.
    var unshown: (json: [UInt8]?, commit: UInt64)?
    /// The received part of a long value.
    var gathered: [UInt8] = []
    private var backlog: [ChangeMessage] = []
    private(set) var backlogBytes = 0
    /// Whether the whole value must be read again.
    var isStale = false
    /// The first and the last heard commit that the client does not have yet.
    private var dueSince: UInt64?
    /// The first commit whose changes of the query's result will be reported later.
    private var unheardSince: UInt64?
    private var heard: UInt64 = 0
    var hasShown = false
    /// Whether the client has the null of a namespace that did not exist.
    var showsNothing = false
    /// The number of rule changes when the value was requested.
    var rulesRead = 0
    var permission = ListenPermission()
    var watching: Namespace.Watching?
    /// The memory that the listen holds.
    private(set) var heldBytes = 0
    private var chargedBytes = 0
    /// The memory that the connection holds for the listen itself.
    var ownBytes = 0

    enum State {
        /// Waits until the namespace reports changes, or exists.
        case waiting
        /// Waits for the value.
        case reading
        case live
        case over
    }

    init(
        _ connection: LiveConnection, _ path: Path, _ query: LiveQuery, tag: Int?, copy: LiveCopy, principal: Principal, client: NetworkAddress,
        reply: LiveReply
    ) {
        self.connection = connection
        self.path = path
        self.query = query
        self.tag = tag
        self.copy = copy
        self.reply = reply
        request = ReadRequest(path, query.query.map { .query($0) } ?? .value, principal: principal)
        request.form = .export
        request.client = client
        request.bytesMax = min(connection.front.database.limits.readBytesMax, LiveSegments.countMax * LiveSegments.unitsMax)
        request.cancellation = Cancellation()
        request.probesIndex = true
        if case .admin = principal { permission.isUnconditional = true }
    }

    var loop: EventLoop { connection.front.loop }

    /// Whether a verdict is needed; a read checks the permission too.
    var mayBeJudged: Bool {
        if case .live = state { true } else { false }
    }

    /// Whether the listen sends the whole node, and has begun to.
    var coversBelow: Bool { query.query == nil && mayBeJudged && namespace != nil }

    // MARK: Life cycle

    /// Starts the listen.
    func start(_ found: FoundNamespace) {
        guard hold(0) else { return refuse(.tooMuchIsListened) }
        switch found {
        case .namespace(let namespace): join(namespace)
        case .absent(let absent):
            switch absent.read(request) {
            case .refused(let error) where error.kind == .indexNotDefined: fallthrough
            case .value, .stream, .node, .notModified:
                state = .live
                if copy.hash != "" { connection.push(LivePush.value(path, Node.empty, tag: tag)) }
                hasShown = true
                showsNothing = true
                answer()
            case .refused(let error): refuse(error)
            }
        }
    }

    /// The namespace was created, or its first rules have changed.
    func startAgain(_ found: FoundNamespace) {
        guard namespace == nil, mayBeJudged else { return }
        switch found {
        case .namespace(let namespace):
            state = .waiting
            join(namespace)
        case .absent(let absent):
            if case .refused(let error) = absent.read(request), error.kind == .permissionDenied { refuse(error) }
        }
    }

    private func join(_ namespace: Namespace) {
        self.namespace = namespace
        topic = connection.front.topics.join(self, namespace, path, query.query)
    }

    func begin() {
        guard case .waiting = state else { return }
        read()
    }

    /// Applies another principal. Nothing more is sent until the rules have allowed it.
    func use(_ principal: Principal) {
        request.principal = principal
        if case .admin = principal { permission.isUnconditional = true } else { permission.isUnconditional = false }
        rejudge()
        sendDue()
    }

    /// Ends the listen. A pending answer is given as a success, because the client waits for it.
    func end() {
        guard close() else { return }
        answer { connection.complete($0, "ok", payload: "{}") }
    }

    private func close() -> Bool {
        if case .over = state { return false }
        state = .over
        request.cancellation?.isSet = true
        copy.ranges = nil
        backlog = []
        gathered = []
        unshown = nil
        endWatch()
        if let topic { connection.front.topics.leave(self, topic) }
        topic = nil
        hold(0)
        dueSince = nil
        unheardSince = nil
        isStale = false
        updateDue()
        if hasShown { namespace?.profile.record(Operation(.listenerUnlisten, at: path)) }
        return true
    }

    func refuse(_ error: DatabaseError) {
        if error.kind == .indexNotDefined, !request.mayLackIndex {
            // The answer says so; the client gets the result nevertheless.
            request.mayLackIndex = true
            return read()
        }
        if case .over = state { return }
        // Clients take a message or an answer with an error for the final end of the listen. After a failure that passes, they connect and listen
        // again.
        let isFinal = error.kind == .permissionDenied || error.kind == .tooLarge
        if reply == nil, isFinal { connection.push(LivePush.cancel(path, query: query.query == nil ? nil : query.text)) }
        // First, so that those below have changes due when the answers that waited for this one are sent.
        connection.forget(self)
        _ = close()
        if reply == nil ? !isFinal : error.isPassing { connection.fail(error) }
        answer { connection.complete($0, LiveRefusal(listen: error)) }
    }

    private func answer() {
        answer { connection.complete($0, "ok", payload: request.mayLackIndex ? "{\"w\":[\"no_index\"]}" : "{}") }
    }

    /// Gives the answer to the listen, unless it is given. The requests after it have waited for this.
    private func answer(_ complete: (LiveReply) -> Void) {
        guard let reply else { return }
        self.reply = nil
        complete(reply)
        connection.didRun()
    }

    // MARK: Changes

    func didShow(_ commit: UInt64) {
        self.commit = commit
        copy.ranges = nil
        let isFirst = reply != nil
        permission.grant(at: commit)
        state = .live
        if heard <= commit {
            isStale = false
            dueSince = nil
        } else if let since = dueSince {
            dueSince = max(since, commit + 1)
        }
        hold(backlogBytes)
        // The answers to later writes wait for the changes that are due.
        updateDue()
        answer()
        connection.didJoin()
        if isFirst || permission.mayEnd { judge() }
        sendDue()
    }

    func hear(_ change: SharedChange) -> Int? {
        if case .over = state { return nil }
        let number = change.change.commit
        heard = max(heard, number)
        guard number > commit || !mayBeJudged, !isStale else { return nil }
        if mayBeJudged, !change.change.continues(commit) {
            didBecomeOutdated(by: number)
            return nil
        }
        let bytes = message(change)
        guard !bytes.isEmpty else { return nil }
        let isCovered = query.query == nil && connection.covers(self)
        if mayBeJudged, backlog.isEmpty, permission.allows(number), isCovered || !connection.isCongested {
            // A listen of a place above sends it.
            if !isCovered { connection.push(bytes) }
            return isCovered ? nil : bytes.count
        }
        dueSince = dueSince ?? number
        backlog.append(ChangeMessage(bytes: bytes, commit: number, since: change.change.since))
        backlogBytes += bytes.count
        if backlogBytes > connection.front.settings.streamBacklogBytesMax || !hold(heldBytes + bytes.count) {
            dropBacklog()
            isStale = true
        }
        updateDue()
        if !permission.allows(number) { judge() }
        return isStale ? nil : bytes.count
    }

    private func message(_ change: SharedChange) -> [UInt8] {
        guard let tag, query.query != nil else { return change.bytes(.message) { LivePush.push(of: $0, for: $1) } }
        return LivePush.tagged(change.bytes(.result) { change, _ in LivePush.push(ofResult: change) }, tag)
    }

    func didBecomeOutdated(by number: UInt64) {
        if case .over = state { return }
        heard = max(heard, number)
        guard number > commit || !mayBeJudged else { return }
        dueSince = dueSince ?? number
        isStale = true
        sendDue()
    }

    func didBecomeDue(since number: UInt64?) {
        if case .over = state { return }
        unheardSince = number.map { min($0, unheardSince ?? .max) }
        if let unshown, topic?.isReady == true {
            self.unshown = nil
            if heard > unshown.commit { read() } else { present(unshown.json, unshown.commit) }
        }
        updateDue()
    }

    /// Sends the due data that the client can take.
    func sendDue() {
        guard mayBeJudged, namespace != nil else { return updateDue() }
        defer { updateDue() }
        sendBacklog()
        if isStale, !connection.isCongested { read() }
    }

    private func sendBacklog() {
        var count = 0
        for message in backlog {
            guard !connection.isCongested, permission.allows(message.commit) else { break }
            count += 1
            guard message.commit > commit else { continue }
            if !message.continues(commit) {
                isStale = true
                break
            }
            if query.query != nil || !connection.covers(self) { connection.push(message.bytes) }
        }
        if count > 0 {
            backlogBytes -= backlog.prefix(count).reduce(0) { $0 + $1.bytes.count }
            backlog.removeFirst(count)
            hold(backlogBytes)
            if backlog.isEmpty, !isStale { dueSince = nil }
        }
        if let next = backlog.first, !permission.allows(next.commit) { judge() }
    }

    /// The listen of a place above, which has sent the changes, has ended before it had sent all of them.
    func catchUp() {
        guard mayBeJudged else { return }
        isStale = true
        dueSince = dueSince ?? commit
        sendDue()
    }

    /// Whether the first value of a namespace that was created is being read.
    var isJoining: Bool {
        switch state {
        case .waiting, .reading: hasShown
        case .live, .over: false
        }
    }

    /// Whether changes wait to be sent.
    var isBehind: Bool { isStale || !backlog.isEmpty || !mayBeJudged }

    func dropBacklog() {
        backlog = []
        backlogBytes = 0
        hold(0)
    }

    @discardableResult
    func hold(_ bytes: Int) -> Bool {
        let all = bytes + (copy.ranges?.heldBytes ?? 0)
        guard connection.hold(all - chargedBytes) else { return false }
        (heldBytes, chargedBytes) = (bytes, all)
        return true
    }

    private var firstDue: UInt64? {
        guard let unheardSince else { return dueSince }
        return min(unheardSince, dueSince ?? .max)
    }

    /// Reports from which commit on the client lacks changes, so that acknowledgements wait for them.
    private func updateDue() {
        if case .over = state { connection.setDue(nil, of: self) } else { connection.setDue(hasShown ? firstDue : nil, of: self) }
    }
}
