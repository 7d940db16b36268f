import DequeModule
import EventLoop
import HearthBytes
import HTTP
import RealtimeDatabase
import Tree

/// A client that is connected to a namespace, independent of the transport (spec database 3).
///
/// Performs the requests in order: writes follow one another without waiting, as do reads, and everything else waits until all earlier
/// requests are complete. Answers have the order of the requests; that to a write follows the changes that the write has made for the client.
final class LiveConnection {
    let front: DatabaseFrontEnd
    let namespaceName: String
    /// Identifies the connection to the client, and its onDisconnect operations.
    let session: DisconnectSession
    /// The address, for taking turns.
    let client: NetworkAddress
    let credentials: LiveCredentials
    /// The App Check token of the client.
    let app: LiveAppCheck
    /// Nil when the connection has ended.
    private(set) var transport: (any LiveTransport)?
    var requester = Requester.signedOut
    let reads: LiveReads
    private(set) var isCongested = false

    /// The requests that wait. Their actions are nil while they are being parsed.
    var queue = Deque<LiveRequest>()
    var running = 0
    private var group = LiveAction.Group.alone
    private var isStarting = false
    private var replies = Deque<LiveReply>()
    var listens: [ListenKey: LiveListen] = [:]
    /// The number of listens without a query.
    var wholeListens = 0
    /// The first commit of the unsent changes of each listen that has some.
    var due: [ObjectIdentifier: UInt64] = [:]
    private var intake: LiveIntake
    private var charge: MemoryCharge
    private var held = 0
    private var isPaused = false
    /// Whether listens join a namespace that was just created.
    var isJoining = false
    var wait: NamespaceWait?
    var expiry: Timer?
    /// The namespace, which must stay open, if onDisconnect operations may be stored.
    var disconnects: Namespace?
    /// Whether the token has ended: the client gets nothing more, and reconnects.
    private var isRevoked = false
    /// Set when the connection has ended. Then nothing more is read for it.
    let cancellation = Cancellation()
    private let record: LiveRecord
    private let didEnd: (LiveConnection) -> Void
    private var endListeners: [() -> Void] = []

    struct ListenKey: Hashable {
        var path: Path
        var query: Query?
    }

    /// The most requests of one connection that wait.
    private static let queuedMax = 1024
    /// The most values that are read at the same time.
    private static let readsMax = 16

    init(
        _ front: DatabaseFrontEnd, _ namespaceName: String, client: NetworkAddress, credentials: LiveCredentials,
        received: consuming MemoryCharge, charge: consuming MemoryCharge, transport: any LiveTransport, record: LiveRecord,
        didEnd: @escaping (LiveConnection) -> Void
    ) {
        self.front = front
        self.namespaceName = namespaceName
        self.client = client
        self.credentials = credentials
        app = LiveAppCheck(isEnforced: front.apps.isEnforced)
        intake = LiveIntake(received)
        self.charge = charge
        self.transport = transport
        self.record = record
        self.didEnd = didEnd
        session = front.database.makeSession()
        reads = LiveReads(loop: front.loop)
    }

    /// Sends the first message.
    ///
    /// - Parameters:
    ///   - last: the session that the client has lost. It ends, and its operations run, before the first request, because the client sends again
    ///     what was not answered.
    ///   - clients: the connections of all loops.
    ///   - appToken: the App Check token with which the client connects; it is verified before the first request.
    func begin(host: Span<UInt8>, last: DisconnectSession?, of clients: LiveClients, appToken: [UInt8]?) {
        push(LivePush.hello(host: host, session: session.id, now: UnixTime.milliseconds()))
        if let appToken {
            running += 1
            verifyApp(appToken) { [self] _ in didRun() }
        }
        guard let last else { return }
        running += 1
        clients.end(last, on: front.loop) { [self] in
            guard case .namespace(let namespace)? = try? found() else { return didRun() }
            namespace.endSession(last, on: front.loop) { [self] error in
                // The client connects again, so that the operations do not run after its next writes.
                if error != nil { close() }
                didRun()
            }
        }
    }

    /// Sends everything by another transport from now on.
    func move(to other: any LiveTransport) {
        guard transport != nil else { return other.close() }
        transport = other
        didDrain()
    }

    // MARK: The client's messages

    /// Handles a message.
    func receive(_ text: Span<UInt8>) {
        guard transport != nil, !isRevoked else { return }
        let message: LiveMessage
        do throws(LiveMessage.Fault) { message = try LiveMessage(parsing: text) } catch { return fail(.mistake, error.reason) }
        switch message {
        case .control("p"): push(LivePush.pong)
        // The other messages belong to the transport, or need no answer.
        case .control: break
        case .request(let number, let action, let body):
            let reply = LiveReply(number, bytes: text.count)
            replies.append(reply)
            guard intake.add(text.count) else { return fail(.shortage, LiveSocket.shortage) }
            let request = LiveRequest(reply)
            queue.append(request)
            parse(action, text.extracting(body), into: request)
            run()
            updatePause()
        }
    }

    /// Parses the body of a request; a large one on another thread, as the REST interface does.
    private func parse(_ name: String, _ body: Span<UInt8>, into request: LiveRequest) {
        var limits = DraftLimits()
        limits.stringBytesMax = front.database.limits.stringBytesMax
        guard body.count > RESTCall.smallBodyBytes else { return request.action = LiveAction(name, body: body, limits: limits) }
        limits.nodesMax = max(intake.room(mayExceed: requester.isAdmin), 0) / Node.leafOverheadBytes
        let bytes = body.array()
        front.loop.compute { [limits] in LiveAction(name, body: bytes.span, limits: limits) } then: { [self] action in
            request.action = action
            run()
        }
    }

    /// Starts the requests that may run now.
    func run() {
        guard !isStarting else { return }
        isStarting = true
        while let next = queue.first, let action = next.action, !isJoining, mayRun(action) {
            queue.removeFirst()
            running += 1
            group = action.group
            start(action, next.reply)
        }
        isStarting = false
        updatePause()
        endWhenIdle()
    }

    /// Whether a request may run beside those that are under way.
    private func mayRun(_ action: LiveAction) -> Bool {
        // Values are read only for a client that takes them, and only a few at a time: their memory is not counted until they are sent.
        switch action {
        case .get: if isCongested || running >= Self.readsMax { return false }
        case .listen: if isCongested { return false }
        default: break
        }
        return running == 0 || action.group == group && group != .alone
    }

    func didRun() {
        running -= 1
        run()
    }

    private func updatePause() {
        let isFull = replies.count >= Self.queuedMax || intake.isFull
        guard isFull != isPaused, isFull || replies.count < Self.queuedMax / 2 && intake.hasRoom else { return }
        isPaused = isFull
        transport?.setPaused(isFull)
    }

    private func start(_ action: LiveAction, _ reply: LiveReply) {
        guard !action.needsApp || !lacksApp else { return refuseWithoutApp(reply) }
        switch action {
        case .listen(let place, let hash, let tag):
            if !listen(place, hash: hash, tag: tag, reply) { didRun() }
        case .unlisten(let place):
            if let path = place.path, let listen = remove(ListenKey(path: path, query: place.query.query)) { end(listen) }
            succeed(reply)
        case .get(let place): if transport == nil { succeed(reply) } else { get(place, reply) }
        case .write(let write): self.write(write, reply)
        case .disconnect(let operation): register(operation, reply)
        case .authenticate(let credential): authenticate(credential, reply)
        case .unauthenticate: use(.signedOut) { [self] in succeed(reply) }
        case .appCheck(let token): checkApp(token, reply)
        case .endAppCheck: endApp(reply)
        case .nothing: succeed(reply)
        case .refused(let refusal):
            complete(reply, refusal)
            didRun()
        }
    }

    func succeed(_ reply: LiveReply) {
        complete(reply, "ok", payload: "\"\"")
        didRun()
    }

    // MARK: The end of a credential

    /// Tells the client that its token has ended. It gets nothing more, because clients take a later message for the end of their listens; they
    /// reconnect with a fresh token.
    ///
    /// - Parameter message: `ac`, or `apc` for an App Check token.
    func revoke(_ message: [UInt8] = LivePush.revocation("ac", .expired)) {
        guard !isRevoked, transport != nil else { return }
        note(.credential, "a credential has ended")
        push(message)
        isRevoked = true
        for next in queue { intake.remove(next.reply.bytes) }
        queue.removeAll()
        endListens()
        transport?.close()
    }

    // MARK: Sending

    /// Sends a message that is not an answer.
    func push(_ message: [UInt8]) {
        guard let transport, !isRevoked else { return }
        if transport.send(message.span) == .congested { isCongested = true }
    }

    func complete(_ reply: LiveReply, _ status: StaticString, payload: StaticString) {
        complete(
            reply,
            LivePush.answer(
                reply.number, status,
                payload: Span(_unsafeElements: UnsafeBufferPointer(start: payload.utf8Start, count: payload.utf8CodeUnitCount))))
    }

    /// Whether an answer would be sent at once.
    func isNext(_ reply: LiveReply) -> Bool { replies.first === reply }

    func complete(_ reply: LiveReply, _ refusal: LiveRefusal) { complete(reply, LivePush.answer(reply.number, refusal)) }

    func complete(_ reply: LiveReply, _ message: [UInt8]) {
        reply.message = message
        intake.remove(reply.bytes)
        // Everything heard so far, if the state of the answer is not known.
        if reply.commit == .max { reply.commit = due.values.max() ?? 0 }
        flush()
    }

    /// Sends the answers that are due, in order.
    func flush() {
        while let next = replies.first, let message = next.message {
            if next.commit > 0, due.values.contains(where: { $0 <= next.commit }) { return }
            replies.removeFirst()
            push(message)
        }
        updatePause()
    }

    /// The client has read most of what was sent.
    func didDrain() {
        isCongested = false
        for listen in Array(listens.values) {
            guard !isCongested else { return }
            listen.sendDue()
        }
        run()
    }

    /// Whether the client may leave a message of so many bytes unread.
    func admits(_ bytes: Int) -> Bool { transport?.admits(bytes) ?? true }

    /// Changes the memory that is held for the client.
    ///
    /// - Returns: whether there is room for it.
    @discardableResult
    func hold(_ bytes: Int) -> Bool {
        guard bytes > 0 else {
            held += bytes
            charge.set(to: held)
            return true
        }
        guard charge.grow(to: held + bytes) == .granted else { return false }
        held += bytes
        return true
    }

    // MARK: The end

    /// Ends the connection, with a reason that the client logs. It connects again.
    func fail(_ ending: LiveEnding, _ reason: String) {
        note(ending, reason)
        push(LivePush.control("e", reason))
        close()
    }

    /// Ends the connection, because something cannot be done now that the client must not take for refused.
    func fail(_ error: DatabaseError) {
        fail(error.isShortage ? .shortage : .unavailable, error.message)
    }

    /// Notes why the host ends the connection.
    func note(_ ending: LiveEnding, _ reason: String) {
        guard transport != nil, !isRevoked else { return }
        record.note(ending, reason, namespace: namespaceName)
    }

    /// Ends the connection. The client reconnects.
    func close() {
        transport?.close()
        didClose()
    }

    /// The transport has ended. Requests that have arrived are still performed; then the onDisconnect operations run.
    func didClose() {
        guard transport != nil else { return }
        transport = nil
        cancellation.isSet = true
        isCongested = false
        expiry?.close()
        expiry = nil
        app.close()
        wait?.end()
        wait = nil
        endListens()
        replies.removeAll()
        run()
    }

    /// Ends the connection, and calls `completion` when all requests that have arrived are complete.
    func end(_ completion: @escaping () -> Void) {
        endListeners.append(completion)
        close()
        endWhenIdle()
    }

    private func endWhenIdle() {
        guard transport == nil, running == 0, queue.isEmpty else { return }
        charge.set(to: 0)
        intake.end()
        disconnects?.endSession(session, on: front.loop) { _ in }
        disconnects = nil
        didEnd(self)
        let listeners = endListeners
        endListeners = []
        for listener in listeners { listener() }
    }
}
