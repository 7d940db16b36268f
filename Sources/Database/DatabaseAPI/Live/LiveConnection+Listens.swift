import RealtimeDatabase
import Tree

/// The listens of a client.
extension LiveConnection {
    private static let listensMax = 10_000
    /// The memory that is counted for a listen.
    private static let listenBytes = 1024

    /// Begins a listen, which calls ``didRun()`` when it has its answer.
    ///
    /// - Returns: false if it has its answer now.
    func listen(_ place: LivePlace, hash: String, tag: Int?, _ reply: LiveReply) -> Bool {
        guard let path = place.path, transport != nil else {
            complete(reply, "ok", payload: "{}")
            return false
        }
        let key = ListenKey(path: path, query: place.query.query)
        // A repeated listen replaces the tag, and says what the client has now.
        if let old = remove(key) { end(old) }
        guard listens.count < Self.listensMax else {
            complete(reply, LiveRefusal(status: "too_big", message: "\(Self.listensMax) listens of a connection are the limit"))
            return false
        }
        let listen = LiveListen(
            self, path, place.query, tag: tag, copy: LiveCopy(hash: hash, ranges: place.ranges), principal: requester.principal,
            client: client, reply: reply)
        listens[key] = listen
        if key.query == nil { wholeListens += 1 }
        let bytes = Self.listenBytes + (place.query.text?.count ?? 0)
        guard hold(bytes) else {
            listen.refuse(.tooMuchIsListened)
            return true
        }
        listen.ownBytes = bytes
        do throws(DatabaseError) {
            let found = try found()
            listen.start(found)
            guard case .absent = found, wait == nil, transport != nil else { return true }
            wait = front.database.awaitNamespace(namespaceName, on: front.loop) { [weak self] in self?.hear($0) }
        } catch {
            listen.refuse(error)
        }
        return true
    }

    /// Removes a listen from the list.
    func remove(_ key: ListenKey) -> LiveListen? {
        guard let listen = listens.removeValue(forKey: key) else { return nil }
        if key.query == nil { wholeListens -= 1 }
        return listen
    }

    /// Ends a listen that was removed from the list. Those below that it covered go on by themselves.
    func end(_ listen: LiveListen) {
        if listen.isBehind { catchUp(below: listen) }
        hold(-listen.ownBytes)
        listen.end()
        didJoin()
    }

    /// Makes the listens below one that has ended send what it has not sent for them.
    private func catchUp(below listen: LiveListen) {
        guard listen.query.query == nil else { return }
        for other in Array(listens.values) where other.query.query == nil && listen.path.contains(other.path) { other.catchUp() }
    }

    /// Removes a listen that has ended by itself.
    func forget(_ listen: LiveListen) {
        let key = ListenKey(path: listen.path, query: listen.query.query)
        guard listens[key] === listen else { return }
        _ = remove(key)
        hold(-listen.ownBytes)
        didJoin()
        // It may have been refused instead of sending a change.
        catchUp(below: listen)
    }

    /// Whether a listen of the whole node at a place above sends the same changes.
    func covers(_ listen: LiveListen) -> Bool {
        guard wholeListens > 1, !listen.path.isRoot else { return false }
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

    func endListens() {
        let ended = listens.values
        listens = [:]
        wholeListens = 0
        for listen in ended { listen.end() }
        isJoining = false
    }

    /// A listen has read the first value of a namespace that was created.
    func didJoin() {
        guard isJoining else { return }
        isJoining = listens.values.contains { $0.isJoining }
        run()
    }
}
