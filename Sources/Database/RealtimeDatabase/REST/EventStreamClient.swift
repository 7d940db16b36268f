import HearthBytes
import EventLoop
import HTTP
import Rules
import Tree

/// One event stream (spec database 2.8): the value of a place, then what becomes of it.
///
/// A client that reads too slowly is not sent every change: what it missed is made good with the newest value. A user is sent a change
/// once the rules have allowed the read in a state that has the change.
final class EventStreamClient: OpenStream, HTTPExchangeObserver {
    let call: RESTCall
    var request: ReadRequest
    /// Nil until the namespace is made.
    var namespace: Namespace?
    private var topic: EventTopic?
    private var wait: NamespaceWait?
    var state = State.waiting
    /// The state of the tree that the client has.
    private var commit: UInt64 = 0
    private var window = QueryWindow()
    private var windowBytes = 0
    /// What has arrived of a query's long result.
    private var gathered: [UInt8] = []
    /// What the client has still to hear, and how much it is.
    private var backlog: [EventFrame] = []
    private var backlogBytes = 0 {
        didSet { backlogCharge.set(to: backlogBytes) }
    }
    /// Counts the backlog.
    private var backlogCharge = MemoryCharge()
    /// Counts a query's result, as it arrives and as it is kept to be compared.
    private var resultCharge = MemoryCharge()
    /// Whether the backlog was given up, so that the whole value must follow; of a query: whether it must be asked again.
    private var isStale = false
    var permission = StreamPermission()
    /// How often the rules had changed when the value was asked for.
    private var rulesRead = 0
    /// Whether the client has been sent a value, and whether that was the null of a namespace that is not there.
    private var hasShown = false
    private var hasShownAbsence = false
    var isCongested = false
    private var isPieceAwaited = false
    private var expiry: Timer?
    /// Measures what the newest value costs, while somebody profiles.
    private var refreshing: OperationTimer?

    enum State {
        /// For the namespace to begin telling.
        case waiting
        /// For the value.
        case reading
        /// A long value is on its way.
        case sending(ValueStream)
        case live
        case over
    }

    /// How priorities and arrays are written.
    let form: JSONForm
    /// Whether the stream is of a query's result.
    var isQuery: Bool {
        if case .query = request.kind { true } else { false }
    }

    var exchange: HTTPExchange { call.exchange }

    init(_ call: RESTCall, _ request: ReadRequest) {
        self.call = call
        self.request = request
        form = request.form
        // What is compared must be whole; and no line may end within a frame.
        if isQuery { self.request.form = .export }
        self.request.isPretty = false
        if case .admin = request.principal { permission.isUnconditional = true }
    }

    // MARK: Life

    /// Lets the stream in.
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
        try call.front.streams.admit(self)
        exchange.observer = self
        backlogCharge = exchange.answerCharge()
        resultCharge = exchange.answerCharge()
    }

    private func join(_ namespace: Namespace) {
        self.namespace = namespace
        namespace.profile.record(Operation(.concurrentConnect))
        topic = call.front.streams.join(self, namespace, request.path)
    }

    /// News of a namespace that was not there when the stream began.
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

    /// From now on the namespace tells of every change: reads the value that they lead on from.
    func begin() {
        guard case .waiting = state else { return }
        read()
    }

    /// Ends the stream; the client is to connect again.
    func close() {
        if case .sending = state { return abort() }
        guard end() else { return }
        if exchange.isAnswered { exchange.end() } else { call.refuse(RESTError(DatabaseError.stopping)) }
    }

    /// Ends the stream in the middle of a frame: a client takes no frame that does not end.
    func abort() {
        if end() { exchange.abort() }
    }

    /// - Returns: whether it was not over before.
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
        gathered = []
        window = QueryWindow()
        resultCharge.set(to: 0)
        expiry?.close()
        expiry = nil
        wait?.end()
        wait = nil
        if let topic { call.front.streams.leave(self, topic) }
        topic = nil
        call.front.streams.dismiss(self)
        if exchange.isAnswered { namespace?.profile.record(Operation(.listenerUnlisten, at: request.path)) }
        namespace?.profile.record(Operation(.concurrentDisconnect))
        return true
    }

    func exchangeDidClose(_ exchange: HTTPExchange) { _ = end() }

    func exchangeDidDrain(_ exchange: HTTPExchange) {
        isCongested = false
        go()
    }

    // MARK: The value

    private func read() {
        guard let namespace else { return }
        state = .reading
        isStale = false
        backlog = []
        backlogBytes = 0
        // What a query sends of its new result is told when that is known.
        request.profiledAs = !exchange.isAnswered ? .listenerListen : isQuery ? nil : .listenerBroadcast
        refreshing = namespace.profile.stopwatch()
        rulesRead = permission.rulesSeen
        namespace.read(request, on: call.front.loop) { [self] in didRead($0) }
    }

    private func didRead(_ outcome: ReadOutcome) {
        // The rules have changed since the read: its permission does not count.
        let isOutdated = rulesRead != permission.rulesSeen
        guard case .reading = state, !isOutdated else {
            if case .stream(let rest) = outcome { rest.cancel() }
            if case .reading = state { read() }
            return
        }
        switch outcome {
        case .refused(let error): refuse(error)
        case .notModified: close()
        case .value(let json, _, let commit):
            self.commit = commit
            permission.wasGranted(at: commit)
            guard startAnswer() else { return }
            show(json)
            if case .over = state { return }
            state = .live
            go()
        case .stream(let rest) where isQuery:
            gathered = rest.first
            gather(rest)
        case .stream(let rest):
            if let refusal = rest.admit(client: call.front.settings.proxies.customer(of: call.exchange)) { return refuse(refusal) }
            guard resultCharge.grow(to: rest.heldBytes) == .granted else {
                rest.cancel()
                return refuse(.tooManyResults)
            }
            commit = rest.commit
            permission.wasGranted(at: commit)
            guard startAnswer() else { return rest.cancel() }
            rest.whenCut(on: call.front.loop) { [weak self] in self?.take(.failed($0)) }
            state = .sending(rest)
            write(EventFrames.valueStart)
            write(rest.first)
            go()
        }
    }

    /// Waits until a long result of a query is whole: only then it can be compared.
    private func gather(_ rest: ValueStream) {
        rest.next(on: call.front.loop) { [self] piece in
            guard case .reading = state else { return rest.cancel() }
            switch piece {
            case .some(let bytes):
                gathered += bytes
                guard resultCharge.grow(to: windowBytes + gathered.count + rest.heldBytes) == .granted else {
                    rest.cancel()
                    return refuse(.tooManyResults)
                }
                gather(rest)
            case .last(let bytes):
                let json = gathered + bytes
                gathered = []
                didRead(.value(json: json, etag: nil, commit: rest.commit))
            case .failed(let error): refuse(error)
            }
        }
    }

    /// Sends a value, or what a query's result has become.
    private func show(_ json: [UInt8]) {
        let wasShown = hasShown
        hasShown = true
        guard isQuery else {
            // A namespace that was made need not have anything here.
            let isKnown = hasShownAbsence && json.span.equals("null")
            hasShownAbsence = namespace == nil
            return isKnown ? () : send(value: json)
        }
        var limits = DraftLimits()
        limits.stringBytesMax = .max
        let draft = (try? Draft(parsing: json.span, limits: limits)) ?? Draft(.empty)
        guard resultCharge.grow(to: draft.heldBytes) == .granted else { return refuse(.tooManyResults) }
        resultCharge.set(to: draft.heldBytes)
        windowBytes = draft.heldBytes
        let node = draft.node
        let frames = window.move(to: node, form: form)
        guard wasShown else { return send(value: node.serialized(form: form)) }
        guard !frames.isEmpty else { return }
        write(frames)
        guard let refreshing else { return }
        namespace?.profile.record(Operation(broadcastAt: request.path, bytes: frames.count, listeners: 1, refreshing))
    }

    private func send(value json: [UInt8]) {
        write(EventFrames.valueStart)
        write(json)
        write(EventFrames.valueEnd)
    }

    /// - Returns: whether the stream goes on; its token may have ended while the value was read.
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

    func refuse(_ error: DatabaseError) {
        if case .over = state { return }
        guard exchange.isAnswered else {
            _ = end()
            return call.refuse(RESTError(error))
        }
        close(EventFrames.end("cancel", error.kind == .tooLarge ? Self.tooLarge : error.message))
    }

    private static let tooLarge = "The specified payload is too large, please request a location with less data."

    // MARK: What becomes of it

    /// A change of the place.
    ///
    /// - Returns: whether it is sent, now or later.
    func receive(_ frame: EventFrame) -> Bool {
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

    /// Something changed that a query may see.
    func refresh() {
        guard call.credentialHolds() else { return endWithCredential() }
        isStale = true
        go()
    }

    /// Sends what is due, as far as the client takes it.
    func go() {
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
            if frame.commit > commit { write(frame.bytes) }
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
            state = .live
        // A frame has begun that cannot be completed.
        case .failed: return abort()
        }
        go()
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
