import EventLoop
import HearthBytes
import HTTP
import RealtimeDatabase
import Rules
import Tree

/// An event stream (spec database 2.8): sends the value of a place, then its changes.
///
/// A client that reads too slowly does not get every change, but the newest value afterwards. A user gets a change when the rules have
/// allowed the read in a state that contains the change.
final class EventStreamClient: OpenStream, HTTPExchangeObserver, TopicMember, JudgedListener {
    let call: RESTCall
    var request: ReadRequest
    /// Nil until the namespace is created.
    var namespace: Namespace?
    private(set) var topic: ListenTopic?
    var topicPlace = 0
    private var wait: NamespaceWait?
    var state = State.waiting
    /// The state of the tree that the client has.
    private var commit: UInt64 = 0
    /// The frames that still have to be sent, and their size.
    private var backlog: [ChangeMessage] = []
    private var backlogBytes = 0 {
        didSet { backlogCharge.set(to: backlogBytes) }
    }
    /// Counts the memory of the backlog.
    private var backlogCharge = MemoryCharge()
    /// Counts the memory of a long value while it is sent.
    private var resultCharge = MemoryCharge()
    /// Whether the backlog was dropped or does not continue the sent value, so that the whole value must be sent.
    private var isStale = false
    /// The first value, until the result of the query is followed.
    private var unshown: (json: [UInt8], commit: UInt64)?
    /// The last commit that has made the sent value outdated.
    private var heardOutdated: UInt64 = 0
    var permission = ListenPermission()
    /// Reports changes of the places on which the permission depends.
    var watching: Namespace.Watching?
    /// The number of rule changes when the value was requested.
    private var rulesRead = 0
    /// Whether a value was sent to the client, and whether it was the null of a nonexistent namespace.
    private var hasShown = false
    private var hasShownAbsence = false
    var isCongested = false
    private var isPieceAwaited = false
    private var expiry: Timer?

    enum State {
        /// Waits until the namespace reports changes.
        case waiting
        /// Waits for the value.
        case reading
        /// A long value is being sent.
        case sending(ValueStream)
        case live
        case over
    }

    /// The form of priorities and arrays.
    let form: JSONForm
    /// The query whose result the stream sends; nil if it sends the whole node.
    private let query: Query?

    var exchange: HTTPExchange { call.exchange }
    var loop: EventLoop { call.front.loop }

    /// Whether a verdict is needed; a read checks the permission too.
    var mayBeJudged: Bool {
        switch state {
        case .waiting, .reading, .over: false
        case .sending, .live: true
        }
    }

    init(_ call: RESTCall, _ request: ReadRequest) {
        self.call = call
        self.request = request
        form = request.form
        query = if case .query(let query) = request.kind { query } else { nil }
        // A frame must not contain line breaks.
        self.request.isPretty = false
        if case .admin = request.principal { permission.isUnconditional = true }
    }

    // MARK: Life cycle

    /// Starts the stream.
    func open(_ found: FoundNamespace) throws(RESTError) {
        switch found {
        case .namespace(let namespace):
            try admit()
            join(namespace)
        case .absent(let absent):
            let outcome = absent.read(request)
            if case .refused(let error) = outcome { throw RESTError(error) }
            try admit()
            state = .reading
            didRead(outcome)
            if case .over = state { return }
            wait = call.front.database.awaitNamespace(absent.name, on: call.front.loop) { [weak self] news in self?.hear(news) }
        }
    }

    private func admit() throws(RESTError) {
        try call.front.streams.admit(self, of: call.namespaceName)
        exchange.observer = self
        backlogCharge = exchange.answerCharge()
        resultCharge = exchange.answerCharge()
    }

    private func join(_ namespace: Namespace) {
        self.namespace = namespace
        namespace.profile.record(Operation(.concurrentConnect))
        topic = call.front.topics.join(self, namespace, request.path, query)
    }

    /// Handles the creation of a namespace that did not exist when the stream began.
    private func hear(_ news: AbsenceNews) {
        guard case .live = state, namespace == nil else { return }
        do throws(RESTError) {
            switch try call.found() {
            case .namespace(let namespace):
                state = .waiting
                join(namespace)
            case .absent(let absent):
                if case .refused(let error) = absent.read(request) { refuse(error) }
            }
        } catch {
            close()
        }
    }

    /// Reads the value on which the following changes are based. From now on, the namespace reports every change.
    func begin() {
        guard case .waiting = state else { return }
        read()
    }

    /// - Returns: false if the stream had already ended.
    func end() -> Bool {
        switch state {
        case .over: return false
        case .sending(let rest): rest.cancel()
        case .waiting, .reading, .live: break
        }
        state = .over
        request.cancellation?.isSet = true
        backlog = []
        backlogBytes = 0
        unshown = nil
        resultCharge.set(to: 0)
        expiry?.close()
        expiry = nil
        wait?.end()
        wait = nil
        endWatch()
        if let topic { call.front.topics.leave(self, topic) }
        topic = nil
        call.front.streams.dismiss(self)
        if exchange.isAnswered { namespace?.profile.record(Operation(.listenerUnlisten, at: request.path)) }
        namespace?.profile.record(Operation(.concurrentDisconnect))
        return true
    }

    func exchangeDidClose(_ exchange: HTTPExchange) { _ = end() }

    func exchangeDidDrain(_ exchange: HTTPExchange) {
        isCongested = false
        sendDue()
    }

    // MARK: The value

    private func read() {
        guard let namespace else { return }
        state = .reading
        isStale = false
        backlog = []
        backlogBytes = 0
        request.profiledAs = exchange.isAnswered ? .listenerBroadcast : .listenerListen
        rulesRead = permission.rulesSeen
        namespace.read(request, on: call.front.loop) { [self] in didRead($0) }
    }

    private func didRead(_ outcome: ReadOutcome) {
        // The rules have changed since the read, so its permission is not valid.
        let isOutdated = rulesRead != permission.rulesSeen
        guard case .reading = state, !isOutdated else {
            if case .stream(let rest) = outcome { rest.cancel() }
            if case .reading = state { read() }
            return
        }
        let isFirst = !exchange.isAnswered
        switch outcome {
        case .refused(let error): refuse(error)
        case .notModified, .node: close()
        case .value(let json, _, let commit):
            if let topic, !topic.isReady {
                unshown = (json, commit)
                return topic.follow()
            }
            self.commit = commit
            permission.grant(at: commit)
            guard startAnswer() else { return }
            show(json)
            becomeLive()
            if isFirst, permission.mayEnd { judge() }
            sendDue()
        case .stream(let rest):
            if let refusal = rest.admit(client: call.front.settings.proxies.customer(of: call.exchange)) { return refuse(refusal) }
            guard resultCharge.grow(to: rest.heldBytes) == .granted else {
                rest.cancel()
                return refuse(.tooManyResults)
            }
            commit = rest.commit
            permission.grant(at: commit)
            guard startAnswer() else { return rest.cancel() }
            rest.whenCut(on: call.front.loop) { [weak self] in self?.take(.failed($0)) }
            state = .sending(rest)
            write(EventFrames.valueStart)
            write(rest.first)
            topic?.follow()
            if isFirst, permission.mayEnd { judge() }
            sendDue()
        }
    }

    /// Sends a value, or the result of a query.
    private func show(_ json: [UInt8]) {
        let isNothing = json.span.equals("null") || json.span.equals("{}")
        // A new namespace may still have no data here.
        let wasAbsent = hasShownAbsence
        hasShownAbsence = namespace == nil
        guard wasAbsent else { return send(value: isNothing ? Array("null".utf8) : json) }
        if isNothing { return }
        var limits = DraftLimits()
        limits.stringBytesMax = .max
        guard query != nil, let draft = try? Draft(parsing: json.span, limits: limits) else { return send(value: json) }
        // The first children of a result are changes of it.
        var frames = ByteBuffer()
        for child in draft.node.children { EventFrames.append(put: child.node, at: Path([child.key]), form: form, to: &frames) }
        write(frames.array())
    }

    private func send(value json: [UInt8]) {
        write(EventFrames.valueStart)
        write(json)
        write(EventFrames.valueEnd)
    }

    /// - Returns: whether the stream continues. Its token may have expired while the value was read.
    private func startAnswer() -> Bool {
        guard !exchange.isAnswered else { return true }
        do throws(RESTError) {
            expiry = try call.expiryTimer { [unowned self] in endWithCredential() }
        } catch {
            if end() { call.refuse(error) }
            return false
        }
        EventFrames.startAnswer(exchange)
        return true
    }

    // MARK: Changes

    func hear(_ change: SharedChange) -> Int? {
        let isResult = query != nil
        let bytes = change.bytes(.frames(form)) { [form] in
            isResult ? EventFrames.frames(ofResult: $0, form: form) : EventFrames.frames(of: $0, for: $1, form: form)
        }
        let message = ChangeMessage(bytes: bytes, commit: change.change.commit, since: change.change.since)
        if case .live = state, !message.continues(commit) {
            didBecomeOutdated(by: message.commit)
            return nil
        }
        return receive(message) ? bytes.count : nil
    }

    /// Shows the first value when the result of the query is followed. Nothing else waits for changes that are due.
    func didBecomeDue(since commit: UInt64?) {
        guard case .reading = state, let unshown, topic?.isReady == true else { return }
        self.unshown = nil
        if heardOutdated > unshown.commit { read() } else { didRead(.value(json: unshown.json, etag: nil, commit: unshown.commit)) }
    }

    /// - Returns: whether the frame is sent, now or later.
    private func receive(_ frame: ChangeMessage) -> Bool {
        guard !frame.bytes.isEmpty, !isStale else { return false }
        if case .over = state { return false }
        if !call.credentialHolds() {
            endWithCredential()
            return false
        }
        if case .live = state, !isCongested, backlog.isEmpty, permission.allows(frame.commit) {
            guard frame.commit > commit else { return false }
            write(frame.bytes)
            return true
        }
        backlog.append(frame)
        backlogBytes += frame.bytes.count
        if backlogBytes > call.front.settings.streamBacklogBytesMax || exchange.isBehind(by: 0) {
            backlog = []
            backlogBytes = 0
            isStale = true
        }
        if !permission.allows(frame.commit) { judge() }
        return !isStale
    }

    func didBecomeOutdated(by number: UInt64) {
        heardOutdated = max(heardOutdated, number)
        guard case .live = state, number > commit else { return }
        guard call.credentialHolds() else { return endWithCredential() }
        isStale = true
        sendDue()
    }

    private func becomeLive() {
        state = .live
        if heardOutdated > commit { isStale = true }
    }

    /// Sends the due data that the client can take.
    func sendDue() {
        guard !isCongested else { return }
        switch state {
        case .waiting, .reading, .over: return
        case .sending(let rest):
            guard !isPieceAwaited, permission.allows(commit) else { return }
            isPieceAwaited = true
            rest.next(on: call.front.loop) { [self] in take($0) }
        case .live:
            sendBacklog()
            if isStale, !isCongested { read() }
        }
    }

    private func sendBacklog() {
        var count = 0
        for frame in backlog {
            guard !isCongested, permission.allows(frame.commit) else { break }
            count += 1
            guard frame.commit > commit else { continue }
            if !frame.continues(commit) {
                isStale = true
                break
            }
            write(frame.bytes)
        }
        backlogBytes -= backlog.prefix(count).reduce(0) { $0 + $1.bytes.count }
        backlog.removeFirst(count)
        if let next = backlog.first, !permission.allows(next.commit) { judge() }
    }

    private func take(_ piece: ValueStream.Piece) {
        isPieceAwaited = false
        guard case .sending = state else { return }
        switch piece {
        case .some(let bytes): write(bytes)
        case .last(let bytes):
            write(bytes)
            write(EventFrames.valueEnd)
            becomeLive()
        // A frame has begun that cannot be completed.
        case .failed: return abort()
        }
        sendDue()
    }

    func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if exchange.write(bytes.span) == .congested { isCongested = true }
    }
}

extension DatabaseError {
    fileprivate static let tooManyResults = DatabaseError(
        .unavailable, "The results of queries that clients listen to take all memory there is for them; try again")
}
