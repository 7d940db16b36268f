import HearthBytes
import EventLoop
import HTTP
import Rules
import Tree

/// One event stream (spec database 2.8): the value of a place, then what becomes of it.
///
/// A client that reads too slowly is not sent every change: what it missed is made good with the newest value.
final class EventStreamClient: OpenStream, HTTPExchangeObserver {
    private let call: RESTCall
    private var request: ReadRequest
    private let namespace: Namespace
    private var topic: EventTopic?
    private var state = State.waiting
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
    /// How many answers about whether it may go on are awaited; until they are here nothing is told.
    private var judgementsAwaited = 0
    /// When the rules were asked last, by the loop's clock. They may look at data that changes.
    private var judgedAt: UInt64 = 0
    private static let judgementMilliseconds: UInt64 = 1000
    private var isCongested = false
    private var isPieceAwaited = false
    private var expiry: Timer?
    /// Measures what the newest value costs, while somebody profiles.
    private var refreshing: Stopwatch?

    private enum State {
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

    private var exchange: HTTPExchange { call.exchange }

    init(_ call: RESTCall, _ request: ReadRequest, _ namespace: Namespace) {
        self.call = call
        self.request = request
        self.namespace = namespace
        form = request.form
        // What is compared must be whole; and no line may end within a frame.
        if isQuery { self.request.form = .export }
        self.request.isPretty = false
    }

    // MARK: Life

    /// Lets the stream in.
    func open() throws(RESTError) {
        try call.front.streams.admit(self)
        exchange.observer = self
        backlogCharge = exchange.answerCharge()
        resultCharge = exchange.answerCharge()
        namespace.profile.record(Operation(.concurrentConnect))
        topic = call.front.streams.join(self, namespace, request.path)
    }

    /// From now on the namespace tells of every change: reads the value that they lead on from.
    func begin() {
        guard case .waiting = state else { return }
        read()
    }

    /// Ends the stream; the client is to connect again.
    func close() {
        guard end() else { return }
        if exchange.isAnswered { exchange.end() } else { call.refuse(RESTError(DatabaseError.stopping)) }
    }

    /// Ends the stream and says why.
    private func close(_ frame: [UInt8]) {
        guard end() else { return }
        exchange.write(frame.span)
        exchange.end()
    }

    /// - Returns: whether it was not over before.
    private func end() -> Bool {
        switch state {
        case .over: return false
        case .sending(let rest): rest.cancel()
        case .waiting, .reading, .live: break
        }
        state = .over
        backlog = []
        backlogBytes = 0
        gathered = []
        window = QueryWindow()
        resultCharge.set(to: 0)
        expiry?.close()
        expiry = nil
        if let topic { call.front.streams.leave(self, topic) }
        topic = nil
        call.front.streams.dismiss(self)
        if exchange.isAnswered { namespace.profile.record(Operation(.listenerUnlisten, at: request.path)) }
        namespace.profile.record(Operation(.concurrentDisconnect))
        return true
    }

    func exchangeDidClose(_ exchange: HTTPExchange) { _ = end() }

    func exchangeDidDrain(_ exchange: HTTPExchange) {
        isCongested = false
        go()
    }

    /// A sign of life, where nothing else is on its way.
    func beat() {
        guard case .live = state, !isCongested else { return }
        write(EventFrames.keepAlive)
        rejudgeIfDue()
    }

    // MARK: The value

    private func read() {
        state = .reading
        judgedAt = call.front.loop.nowMilliseconds
        isStale = false
        backlog = []
        backlogBytes = 0
        // What a query sends of its new result is told when that is known.
        request.profiledAs = !exchange.isAnswered ? .listenerListen : isQuery ? nil : .listenerBroadcast
        refreshing = namespace.profile.stopwatch()
        namespace.read(request, on: call.front.loop) { [self] in didRead($0) }
    }

    private func didRead(_ outcome: ReadOutcome) {
        guard case .reading = state else {
            if case .stream(let rest) = outcome { rest.cancel() }
            return
        }
        switch outcome {
        case .refused(let error): refuse(error)
        case .notModified: close()
        case .value(let json, _, let commit):
            self.commit = commit
            isQuery ? show(json) : send(value: json)
            if case .over = state { return }
            state = .live
            go()
        case .stream(let rest) where isQuery:
            gathered = rest.first
            gather(rest)
        case .stream(let rest):
            if let refusal = rest.admit(client: call.client) { return refuse(refusal) }
            commit = rest.commit
            rest.whenCut(on: call.front.loop) { [weak self] in self?.take(.failed($0)) }
            startAnswer()
            write(EventFrames.valueStart)
            write(rest.first)
            state = .sending(rest)
            go()
        }
    }

    private func send(value json: [UInt8]) {
        startAnswer()
        write(EventFrames.valueStart)
        write(json)
        write(EventFrames.valueEnd)
    }

    /// Waits until a long result of a query is whole: only then it can be compared.
    private func gather(_ rest: ValueStream) {
        rest.next(on: call.front.loop) { [self] piece in
            guard case .reading = state else { return rest.cancel() }
            switch piece {
            case .some(let bytes):
                gathered += bytes
                guard resultCharge.grow(to: windowBytes + gathered.count) == .granted else {
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

    /// Sends what a query's result has become.
    private func show(_ json: [UInt8]) {
        var limits = DraftLimits()
        limits.stringBytesMax = .max
        let draft = (try? Draft(parsing: json.span, limits: limits)) ?? Draft(.empty)
        guard resultCharge.grow(to: draft.heldBytes) == .granted else { return refuse(.tooManyResults) }
        resultCharge.set(to: draft.heldBytes)
        windowBytes = draft.heldBytes
        let node = draft.node
        let isFirst = !exchange.isAnswered
        let frames = window.move(to: node, form: form)
        guard !isFirst else { return send(value: node.serialized(form: form)) }
        guard !frames.isEmpty else { return }
        write(frames)
        guard let refreshing else { return }
        namespace.profile.record(Operation(broadcastAt: request.path, bytes: frames.count, listeners: 1, refreshing))
    }

    private func startAnswer() {
        guard !exchange.isAnswered else { return }
        EventFrames.startAnswer(exchange)
        guard let expires = call.requester.expires else { return }
        let left = expires * 1000 - UnixTime.milliseconds()
        // In development mode tokens of tests are taken that ended in 1970: they are good for as long as anybody likes.
        guard left > 0 else { return }
        let timer = Timer(loop: call.front.loop) { [unowned self] in close(EventFrames.end("auth_revoked", "Auth token is expired")) }
        timer.start(afterMilliseconds: UInt64(left))
        expiry = timer
    }

    private func refuse(_ error: DatabaseError) {
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
        rejudgeIfDue()
        if case .live = state, !isCongested, judgementsAwaited == 0, backlog.isEmpty {
            guard frame.commit > commit else { return false }
            write(frame.bytes)
            return true
        }
        backlog.append(frame)
        backlogBytes += frame.bytes.count
        let hasRoom = backlogBytes <= call.front.settings.streamBacklogBytesMax && !exchange.isBehind(by: 0)
        guard !hasRoom else { return true }
        backlog = []
        backlogBytes = 0
        isStale = true
        return false
    }

    /// Something changed that a query may see.
    func refresh() {
        isStale = true
        go()
    }

    private func rejudgeIfDue() {
        if judgementsAwaited == 0, call.front.loop.nowMilliseconds - judgedAt >= Self.judgementMilliseconds { rejudge() }
    }

    /// The rules, or what they look at, may be others now: asks whether the stream may go on, and tells nothing until that is known.
    func rejudge() {
        guard case .user = request.principal else { return }
        judgementsAwaited += 1
        judgedAt = call.front.loop.nowMilliseconds
        namespace.judge(.read(request), by: nil, on: call.front.loop) { [self] verdict in
            judgementsAwaited -= 1
            switch verdict {
            case .success(let verdict) where !verdict.isAllowed: refuse(.permissionDenied())
            case .failure(let error): refuse(error)
            case .success: go()
            }
        }
    }

    /// Sends what is due, as far as the client takes it.
    private func go() {
        guard !isCongested, judgementsAwaited == 0 else { return }
        switch state {
        case .waiting, .reading, .over: return
        case .sending(let rest):
            guard !isPieceAwaited else { return }
            isPieceAwaited = true
            rest.next(on: call.front.loop) { [self] in take($0) }
        case .live:
            for (index, frame) in backlog.enumerated() where frame.commit > commit {
                guard !isCongested else {
                    backlog.removeFirst(index)
                    backlogBytes = backlog.reduce(0) { $0 + $1.bytes.count }
                    return
                }
                write(frame.bytes)
            }
            backlog = []
            backlogBytes = 0
            if isStale, !isCongested { read() }
        }
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
        case .failed:
            // A frame has begun that cannot be completed.
            _ = end()
            return exchange.abort()
        }
        go()
    }

    private func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if exchange.write(bytes.span) == .congested { isCongested = true }
    }
}

extension DatabaseError {
    fileprivate static let tooManyResults = DatabaseError(
        .unavailable, "The results of queries that clients listen to take all memory there is for them; try again")
}

extension RESTCall {
    /// Answers with an event stream.
    func stream(_ request: ReadRequest) throws(RESTError) {
        switch request.kind {
        case .value, .query: break
        case .shallow, .priority: throw .badRequest("Only values and queries can be streamed")
        }
        guard parameters.callback == nil, parameters.download == nil, parameters.timeoutMilliseconds == nil else {
            throw .badRequest("callback, download and timeout are not supported with event streams")
        }
        try EventStreamClient(self, request, try namespace()).open()
    }

    /// Whether the sender asks for a stream.
    var wantsStream: Bool {
        let exchange = exchange
        guard exchange.method == .get, let accept = exchange.header("accept") else { return false }
        let wanted: StaticString = "text/event-stream"
        guard accept.count >= wanted.utf8CodeUnitCount else { return false }
        for start in 0...accept.count - wanted.utf8CodeUnitCount {
            if accept.extracting(start..<start + wanted.utf8CodeUnitCount).equalsIgnoringCase(lowercase: wanted) { return true }
        }
        return false
    }
}
