import DequeModule
import EventLoop
import HTTP
import RealtimeDatabase
import Tree

/// Performs the requests of a client.
extension LiveConnection {
    // MARK: Namespace

    /// Whether the namespace may be one that does not exist, which a write creates.
    var mayBeAbsent: Bool { front.settings.isDevelopment || requester.isAdmin }

    func found() throws(DatabaseError) -> FoundNamespace { try front.database.find(namespaceName, isKnown: mayBeAbsent) }

    /// Creates the namespace. The listens join it before anything is written, so that they report the first write too.
    func create() throws(DatabaseError) -> Namespace {
        let namespace = try front.database.namespace(namespaceName)
        for listen in Array(listens.values) { listen.startAgain(.namespace(namespace)) }
        isJoining = listens.values.contains { $0.isJoining }
        return namespace
    }

    func hear(_ news: AbsenceNews) {
        if case .made = news {
            wait?.end()
            wait = nil
        }
        do throws(DatabaseError) {
            let found = try found()
            for listen in Array(listens.values) { listen.startAgain(found) }
        } catch {
            fail(error)
        }
    }

    // MARK: Reading and writing

    func get(_ place: LivePlace, _ reply: LiveReply) {
        guard let path = place.path else {
            complete(reply, "ok", payload: "null")
            return didRun()
        }
        var request = ReadRequest(path, place.query.query.map { .query($0) } ?? .value, principal: requester.principal)
        request.form = .export
        request.client = client
        request.cancellation = cancellation
        request.mayLackIndex = true
        request.bytesMax = min(front.database.limits.readBytesMax, LiveSegments.countMax * LiveSegments.unitsMax)
        request.profiledAs = .realtimeRead
        do throws(DatabaseError) {
            switch try found() {
            case .absent(let absent): didRead(absent.read(request), reply)
            case .namespace(let namespace): reads.read(request, of: namespace) { [self] in didRead($0, reply) }
            }
        } catch {
            complete(reply, LiveRefusal(listen: error))
            didRun()
        }
    }

    func didRead(_ outcome: ReadOutcome, _ reply: LiveReply) {
        switch outcome {
        case .value(let json, _, _):
            if admits(json.count) {
                complete(reply, LivePush.answer(reply.number, "ok", payload: json.span))
            } else {
                complete(reply, LiveRefusal(status: "unavailable", message: "Too many answers wait for clients that do not read them"))
            }
        case .refused(let error): complete(reply, LiveRefusal(listen: error))
        case .notModified, .node: complete(reply, "ok", payload: "null")
        case .stream(let rest): return gather(rest, rest.first, reply)
        }
        didRun()
    }

    func gather(_ rest: ValueStream, _ gathered: [UInt8], _ reply: LiveReply) {
        guard transport != nil else {
            rest.cancel()
            return didRead(.refused(.cancelled), reply)
        }
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

    func write(_ write: LiveWrite, _ reply: LiveReply) {
        var request = WriteRequest(write.operation, principal: requester.principal, origin: requester.origin)
        request.profiledAs = write.hash != nil ? .realtimeTransaction : write.isUpdate ? .realtimeUpdate : .realtimeWrite
        request.bytes = write.bytes
        request.client = client
        // A hash that the client sends may be the empty text: the node must not exist.
        request.wantsConflictingValue = false
        request.contender = ObjectIdentifier(self)
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
                    queue.prepend(LiveRequest(reply, .write(write)))
                    running -= 1
                    return
                }
            }
            namespace.write(request, on: front.loop) { [self] in didWrite($0, reply) }
        } catch {
            didWrite(.refused(error), reply)
        }
    }

    func didWrite(_ outcome: WriteOutcome, _ reply: LiveReply) {
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

    func register(_ operation: DisconnectOperation, _ reply: LiveReply) {
        let namespace: Namespace
        do throws(DatabaseError) {
            switch try found() {
            case .namespace(let known): namespace = known
            case .absent(let absent):
                // Only what may be written creates a namespace.
                if case .cancel = operation { return succeed(reply) }
                try absent.judge(operation, principal: requester.principal, limits: front.database.limits)
                namespace = try create()
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

    func authenticate(_ credential: LiveCredential, _ reply: LiveReply) {
        credentials.check(credential) { [self] result in
            let requester: Requester
            let answer: [UInt8]
            switch result {
            case .success(let found):
                requester = found.requester
                answer = LivePush.answer(reply.number, "ok", payload: found.answer.span)
            case .failure(let refusal):
                requester = .signedOut
                answer = LivePush.answer(reply.number, refusal)
            }
            use(requester) { [self] in
                complete(reply, answer)
                didRun()
            }
        }
    }

    /// Performs everything for another sender from now on, also the onDisconnect operations once `completion` is called.
    func use(_ requester: Requester, completion: @escaping () -> Void) {
        self.requester = requester
        judgeApp()
        for listen in Array(listens.values) { listen.use(requester.principal) }
        expiry?.close()
        expiry = nil
        expiry = requester.expires.map { Timer.atExpiry($0, loop: front.loop) { [weak self] in self?.revoke() } }
        guard let disconnects else { return completion() }
        disconnects.setDisconnectPrincipal(requester.principal, of: session, on: front.loop) { _ in completion() }
    }

    /// Checks what may end without news. Called from time to time.
    func check() {
        checkAppExpiry()
        guard requester.isAdmin || requester.expires != nil else { return }
        if !credentials.holds(requester) { revoke() }
    }
}
