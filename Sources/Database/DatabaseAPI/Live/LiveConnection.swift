import DequeModule
import EventLoop
import HearthBytes
import HTTP
import RealtimeDatabase
import Tree

/// The way by which the messages of a live connection travel: a WebSocket, or long polling.
protocol LiveTransport: AnyObject {
    /// Sends a whole message.
    ///
    /// - Returns: whether to continue now. The message is taken in any case.
    func send(_ message: Span<UInt8>) -> HTTPFlow
    /// Stops or continues to take messages from the client.
    func setPaused(_ isPaused: Bool)
    /// Whether the client may leave a message of so many bytes unread.
    func admits(_ bytes: Int) -> Bool
    /// Ends the connection when the sent messages have arrived.
    func close()
}

/// The place of an answer among those of a connection, which are sent in the order of the requests.
final class LiveReply {
    let number: Int
    /// The whole message, when it is known.
    fileprivate var message: [UInt8]?
    /// The state whose changes must be sent before the answer.
    fileprivate var commit: UInt64 = 0

    init(_ number: Int) { self.number = number }
}

/// A client that is connected to a namespace, independent of the transport (spec database 3).
///
/// Performs the requests in order: writes follow one another without waiting, as do reads, and everything else waits until all earlier
/// requests are complete. Answers have the order of the requests; that to a write follows the changes that the write has made for the client.
final class LiveConnection {
    let front: DatabaseFrontEnd
    let namespaceName: String
    /// Identifies the connection to the client, and its operations for the time when it has ended.
    let session: DisconnectSession
    /// The address, for taking turns.
    let client: NetworkAddress
    let credentials: LiveCredentials
    /// Nil when the connection has ended.
    private(set) var transport: (any LiveTransport)?
    private(set) var requester = Requester.signedOut
    private(set) var isCongested = false

    private var queue = Deque<(reply: LiveReply, action: LiveAction)>()
    private var running = 0
    private var group = LiveAction.Group.alone
    private var replies = Deque<LiveReply>()
    private var listens: [ListenKey: LiveListen] = [:]
    /// The listens whose client lacks changes, with the commit from which on.
    private var due: [ObjectIdentifier: UInt64] = [:]
    private var charge: MemoryCharge
    private var held = 0
    private var isPaused = false
    /// Whether listens join a namespace that was just created.
    private var isJoining = false
    private var wait: NamespaceWait?
    private var expiry: Timer?
    /// The namespace, which must stay open, if operations may be stored for the time after the end.
    private var disconnects: Namespace?
    /// Whether the token has ended: the client gets nothing more, and reconnects.
    private var isRevoked = false
    private let didEnd: (LiveConnection) -> Void

    private struct ListenKey: Hashable {
        var path: Path
        var query: Query?
    }

    /// The most requests that wait, and listens, of one connection.
    private static let queuedMax = 1024
    private static let listensMax = 10_000
    /// The memory that is counted for a listen.
    private static let listenBytes = 1024

    init(
        _ front: DatabaseFrontEnd, _ namespaceName: String, client: NetworkAddress, credentials: LiveCredentials, charge: consuming MemoryCharge,
        transport: any LiveTransport, didEnd: @escaping (LiveConnection) -> Void
    ) {
        self.front = front
        self.namespaceName = namespaceName
        self.client = client
        self.credentials = credentials
        self.charge = charge
        self.transport = transport
        self.didEnd = didEnd
        session = front.database.makeSession()
    }

    /// Sends the first message. `last` is the session that the client has lost; its operations run before the first request.
    func begin(host: Span<UInt8>, last: DisconnectSession?) {
        push(LivePush.hello(host: host, session: session.id, now: UnixTime.milliseconds()))
        guard let last, case .namespace(let namespace)? = try? found() else { return }
        running += 1
        group = .alone
        namespace.endSession(last, on: front.loop) { [self] _ in didRun() }
    }

    // MARK: The client's messages

    /// Handles a message.
    func receive(_ text: Span<UInt8>) {
        guard transport != nil else { return }
        let message: LiveMessage
        do throws(LiveMessage.Fault) { message = try LiveMessage(parsing: text) } catch { return fail(error.reason) }
        switch message {
        case .control("p"): push(LivePush.pong)
        // The other messages belong to the transport, or need no answer.
        case .control: break
        case .request(let number, let action, let body):
            let reply = LiveReply(number)
            replies.append(reply)
            guard !isRevoked else { return complete(reply, .expired) }
            var limits = DraftLimits()
            limits.stringBytesMax = front.database.limits.stringBytesMax
            queue.append((reply, LiveAction(action, body: text.extracting(body), limits: limits)))
            run()
            updatePause()
        }
    }

    /// Starts the requests that may run now.
    private func run() {
        while let next = queue.first, !isJoining, running == 0 || next.action.group == group && group != .alone {
            queue.removeFirst()
            running += 1
            group = next.action.group
            start(next.action, next.reply)
        }
        updatePause()
        endWhenIdle()
    }

    private func didRun() {
        running -= 1
        run()
    }

    private func updatePause() {
        let isFull = replies.count >= Self.queuedMax
        guard isFull != isPaused, isFull || replies.count < Self.queuedMax / 2 else { return }
        isPaused = isFull
        transport?.setPaused(isFull)
    }

    private func start(_ action: LiveAction, _ reply: LiveReply) {
        switch action {
        case .listen(let place, let hash, let tag):
            listen(place, hash: hash, tag: tag, reply)
            didRun()
        case .unlisten(let place):
            if let path = place.path, let listen = listens.removeValue(forKey: ListenKey(path: path, query: place.query.query)) {
                end(listen)
            }
            succeed(reply)
        case .get(let place): get(place, reply)
        case .write(let write): self.write(write, reply)
        case .disconnect(let operation): register(operation, reply)
        case .authenticate(let credential): authenticate(credential, reply)
        case .unauthenticate:
            use(.signedOut)
            succeed(reply)
        case .appCheck, .nothing: succeed(reply)
        case .refused(let refusal):
            complete(reply, refusal)
            didRun()
        }
    }

    private func succeed(_ reply: LiveReply) {
        complete(reply, "ok", payload: "\"\"")
        didRun()
    }

    // MARK: Namespace

    /// Whether the namespace may be one that does not exist, which a write creates.
    private var mayBeAbsent: Bool { front.settings.isDevelopment || requester.isAdmin }

    private func found() throws(DatabaseError) -> FoundNamespace { try front.database.find(namespaceName, isKnown: mayBeAbsent) }

    /// Creates the namespace. The listens join it before anything is written, so that they report the first write too.
    private func create() throws(DatabaseError) -> Namespace {
        let namespace = try front.database.namespace(namespaceName)
        for listen in Array(listens.values) { listen.startAgain(.namespace(namespace)) }
        isJoining = listens.values.contains { $0.isJoining }
        return namespace
    }

    /// A listen has read the first value of a namespace that was created.
    func didJoin() {
        guard isJoining else { return }
        isJoining = listens.values.contains { $0.isJoining }
        run()
    }

    private func hear(_ news: AbsenceNews) {
        if case .made = news {
            wait?.end()
            wait = nil
        }
        guard let found = try? found() else { return close() }
        for listen in Array(listens.values) { listen.startAgain(found) }
    }

    // MARK: Listens

    private func listen(_ place: LivePlace, hash: String, tag: Int?, _ reply: LiveReply) {
        guard let path = place.path else { return complete(reply, "ok", payload: "{}") }
        let key = ListenKey(path: path, query: place.query.query)
        // A repeated listen replaces the tag, and says what the client has now.
        if let old = listens.removeValue(forKey: key) { end(old) }
        guard listens.count < Self.listensMax, hold(Self.listenBytes) else {
            return complete(reply, LiveRefusal(status: "too_big", message: "\(Self.listensMax) listens of a connection are the limit"))
        }
        let listen = LiveListen(
            self, path, place.query, tag: tag, hash: hash, principal: requester.principal, client: client, reply: reply)
        listens[key] = listen
        do throws(DatabaseError) {
            let found = try found()
            listen.start(found)
            guard case .absent = found, wait == nil else { return }
            wait = front.database.awaitNamespace(namespaceName, on: front.loop) { [weak self] in self?.hear($0) }
        } catch {
            listen.refuse(error)
        }
    }

    /// Ends a listen that was removed from the list. Those below that it covered go on by themselves.
    private func end(_ listen: LiveListen) {
        let wasBehind = listen.isBehind && listen.query.query == nil
        hold(-Self.listenBytes)
        listen.end()
        didJoin()
        guard wasBehind else { return }
        for other in listens.values where other.query.query == nil && listen.path.contains(other.path) { other.catchUp() }
    }

    /// Removes a listen that has ended by itself.
    func forget(_ listen: LiveListen) {
        let key = ListenKey(path: listen.path, query: listen.query.query)
        guard listens[key] === listen else { return }
        listens[key] = nil
        hold(-Self.listenBytes)
        didJoin()
    }

    /// Whether a listen of the whole node at a place above sends the same changes.
    func covers(_ listen: LiveListen) -> Bool {
        guard listens.count > 1, !listen.path.isRoot else { return false }
        for count in 0..<listen.path.count {
            let above = Path(Array(listen.path.segments.prefix(count)))
            if listens[ListenKey(path: above, query: nil)]?.coversBelow == true { return true }
        }
        return false
    }

    /// Notes from which commit on the client lacks changes of a listen; nil for none. Answers to later writes wait for them.
    func setDue(_ commit: UInt64?, of listen: LiveListen) {
        let id = ObjectIdentifier(listen)
        guard due[id] != commit else { return }
        due[id] = commit
        flush()
    }

    // MARK: Reading and writing

    private func get(_ place: LivePlace, _ reply: LiveReply) {
        guard let path = place.path else {
            complete(reply, "ok", payload: "null")
            return didRun()
        }
        var request = ReadRequest(path, place.query.query.map { .query($0) } ?? .value, principal: requester.principal)
        request.form = .export
        request.client = client
        request.cancellation = Cancellation()
        request.mayLackIndex = true
        request.bytesMax = min(front.database.limits.readBytesMax, LiveSegments.countMax * LiveSegments.unitsMax)
        request.profiledAs = .realtimeRead
        do throws(DatabaseError) {
            switch try found() {
            case .absent(let absent): didRead(absent.read(request), reply)
            case .namespace(let namespace): namespace.read(request, on: front.loop) { [self] in didRead($0, reply) }
            }
        } catch {
            complete(reply, LiveRefusal(listen: error))
            didRun()
        }
    }

    private func didRead(_ outcome: ReadOutcome, _ reply: LiveReply) {
        switch outcome {
        case .value(let json, _, _):
            if admits(json.count) {
                complete(reply, LivePush.answer(reply.number, "ok", payload: json.span))
            } else {
                complete(reply, LiveRefusal(status: "unavailable", message: "Too many answers wait for clients that do not read them"))
            }
        case .refused(let error): complete(reply, LiveRefusal(listen: error))
        case .notModified: complete(reply, "ok", payload: "null")
        case .stream(let rest):
            if let refusal = rest.admit(client: client) {
                complete(reply, LiveRefusal(listen: refusal))
            } else {
                return gather(rest, rest.first, reply)
            }
        }
        didRun()
    }

    private func gather(_ rest: ValueStream, _ gathered: [UInt8], _ reply: LiveReply) {
        guard hold(gathered.count) else {
            rest.cancel()
            complete(reply, LiveRefusal(status: "unavailable", message: "Too many answers are being made"))
            return didRun()
        }
        rest.next(on: front.loop) { [self] piece in
            hold(-gathered.count)
            switch piece {
            case .some(let bytes): gather(rest, gathered + bytes, reply)
            case .last(let bytes): didRead(.value(json: gathered + bytes, etag: nil, commit: rest.commit), reply)
            case .failed(let error): didRead(.refused(error), reply)
            }
        }
    }

    private func write(_ write: LiveWrite, _ reply: LiveReply) {
        var request = WriteRequest(write.operation, principal: requester.principal, origin: requester.origin)
        request.profiledAs = write.hash != nil ? .realtimeTransaction : write.isUpdate ? .realtimeUpdate : .realtimeWrite
        request.bytes = write.bytes
        request.client = client
        // A hash that the client sends may be the empty text: the node must not exist.
        request.ifMatch = write.hash.map { $0.isEmpty ? Node.emptyETag : $0 }
        guard WriteSizeLimit.standard.allows(leaves: write.leaves, bytes: write.bytes) else {
            complete(reply, LiveRefusal(write: .writeTooLarge))
            return didRun()
        }
        do throws(DatabaseError) {
            let namespace: Namespace
            switch try found() {
            case .namespace(let known): namespace = known
            case .absent(let absent):
                if let outcome = absent.write(request) { return didWrite(outcome, reply) }
                namespace = try create()
                if isJoining {
                    queue.prepend((reply, .write(write)))
                    running -= 1
                    return
                }
            }
            namespace.write(request, on: front.loop) { [self] in didWrite($0, reply) }
        } catch {
            didWrite(.refused(error), reply)
        }
    }

    private func didWrite(_ outcome: WriteOutcome, _ reply: LiveReply) {
        switch outcome {
        case .committed(let receipt): reply.commit = receipt.commit
        // The client may need everything that was reported so far, to try again or to show the refused value no longer.
        case .conflict, .refused: reply.commit = .max
        }
        switch outcome {
        case .committed: complete(reply, "ok", payload: "\"\"")
        case .conflict: complete(reply, LiveRefusal(status: "datastale", message: "Transaction hash does not match"))
        case .refused(let error): complete(reply, LiveRefusal(write: error))
        }
        didRun()
    }

    // MARK: Operations for the end

    private func register(_ operation: DisconnectOperation, _ reply: LiveReply) {
        let namespace: Namespace
        do throws(DatabaseError) {
            switch try found() {
            case .namespace(let known): namespace = known
            case .absent: namespace = try create()
            }
        } catch {
            complete(reply, LiveRefusal(write: error))
            return didRun()
        }
        disconnects = namespace
        namespace.registerDisconnect(operation, of: session, principal: requester.principal, on: front.loop) { [self] error in
            if let error { complete(reply, LiveRefusal(write: error)) } else { complete(reply, "ok", payload: "\"\"") }
            didRun()
        }
    }

    // MARK: Credentials

    private func authenticate(_ credential: LiveCredential, _ reply: LiveReply) {
        credentials.check(credential) { [self] result in
            switch result {
            case .success(let found):
                use(found.requester)
                complete(reply, LivePush.answer(reply.number, "ok", payload: found.answer.span))
            case .failure(let refusal):
                use(.signedOut)
                complete(reply, refusal)
            }
            didRun()
        }
    }

    /// Performs everything for another sender from now on.
    private func use(_ requester: Requester) {
        self.requester = requester
        for listen in Array(listens.values) { listen.use(requester.principal) }
        disconnects?.setDisconnectPrincipal(requester.principal, of: session, on: front.loop) { _ in }
        expiry?.close()
        expiry = nil
        guard let expires = requester.expires else { return }
        let timer = Timer(loop: front.loop) { [weak self] in
            guard let self else { return }
            let left = expires * 1000 - UnixTime.milliseconds()
            if left > 0 { expiry?.start(afterMilliseconds: UInt64(left)) } else { revoke() }
        }
        timer.start(afterMilliseconds: UInt64(max(expires * 1000 - UnixTime.milliseconds(), 0)))
        expiry = timer
    }

    /// Checks what may end without news. Called from time to time.
    func check() {
        guard requester.isAdmin || requester.expires != nil else { return }
        if !credentials.holds(requester) { revoke() }
    }

    /// Tells the client that its token has ended. It gets nothing more, because clients take a later message for the end of their listens; they
    /// reconnect with a fresh token.
    private func revoke() {
        guard !isRevoked, transport != nil else { return }
        push(LivePush.revocation("ac", .expired))
        isRevoked = true
        for next in queue { complete(next.reply, .expired) }
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

    func complete(_ reply: LiveReply, _ refusal: LiveRefusal) { complete(reply, LivePush.answer(reply.number, refusal)) }

    private func complete(_ reply: LiveReply, _ message: [UInt8]) {
        reply.message = message
        // Everything heard so far, if the state of the answer is not known.
        if reply.commit == .max { reply.commit = due.values.max() ?? 0 }
        flush()
    }

    /// Sends the answers that are due, in order.
    private func flush() {
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
            listen.go()
        }
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

    /// Ends the connection because of the client's mistake.
    private func fail(_ reason: String) {
        push(LivePush.control("e", reason))
        close()
    }

    /// Ends the connection. The client reconnects.
    func close() {
        transport?.close()
        didClose()
    }

    /// The transport has ended. Requests that have arrived are still performed; then the operations for the end run.
    func didClose() {
        guard transport != nil else { return }
        transport = nil
        expiry?.close()
        expiry = nil
        wait?.end()
        wait = nil
        endListens()
        replies.removeAll()
        endWhenIdle()
    }

    private func endListens() {
        let ended = listens.values
        listens = [:]
        for listen in ended { listen.end() }
        isJoining = false
    }

    private func endWhenIdle() {
        guard transport == nil, running == 0, queue.isEmpty else { return }
        charge.set(to: 0)
        disconnects?.endSession(session, on: front.loop) { _ in }
        disconnects = nil
        didEnd(self)
    }
}
