import HearthBytes
import RealtimeDatabase
import Tree

/// Reads the value of a listen, and sends it.
extension LiveListen {
    func read() {
        guard let namespace else { return }
        state = .reading
        isStale = false
        dropBacklog()
        copy.prepare(&request, isFirst: !hasShown)
        request.profiledAs = hasShown ? .listenerBroadcast : .listenerListen
        rulesRead = permission.rulesSeen
        connection.reads.read(request, of: namespace) { [self] in didRead($0) }
    }

    private func didRead(_ outcome: ReadOutcome) {
        // The rules have changed since the read, so its permission is not valid.
        let isOutdated = rulesRead != permission.rulesSeen
        guard case .reading = state, !isOutdated else {
            if case .stream(let rest) = outcome { rest.cancel() }
            if case .reading = state { read() }
            return
        }
        switch outcome {
        case .refused(let error): refuse(error)
        case .node: connection.close()
        case .notModified(_, let commit): present(nil, commit)
        case .value(let json, _, let commit): present(json, commit)
        case .stream(let rest):
            gathered = rest.first
            gather(rest)
        }
    }

    /// Waits until a long value is complete: a message begins with its length.
    private func gather(_ rest: ValueStream) {
        guard hold(backlogBytes + gathered.count + rest.heldBytes) else {
            rest.cancel()
            return refuse(.tooMuchIsListened)
        }
        rest.next(on: loop) { [self] piece in
            guard case .reading = state else { return rest.cancel() }
            switch piece {
            case .some(let bytes):
                gathered += bytes
                gather(rest)
            case .last(let bytes):
                let json = gathered + bytes
                gathered = []
                present(json, rest.commit)
            case .failed(let error): refuse(error)
            }
        }
    }

    /// Shows a value that was read, nil if the client has it, as soon as changes are reported that continue it.
    func present(_ json: [UInt8]?, _ commit: UInt64) {
        if rulesRead != permission.rulesSeen { return read() }
        if let topic, !topic.isReady {
            unshown = (json, commit)
            return topic.follow()
        }
        if let json { return show(json, commit) }
        hasShown = true
        didShow(commit)
    }

    /// Sends a value, or the result of a query.
    private func show(_ json: [UInt8], _ commit: UInt64) {
        guard connection.admits(json.count) else { return refuse(.tooMuchIsListened) }
        let isNothing = json.span.equals("null") || json.span.equals("{}")
        // A client without a value assumes that there is none, but only when it gets the answer: changes that come before it would be lost.
        let isKnown = isNothing && (hasShown ? showsNothing : copy.hash.isEmpty && reply.map { connection.isNext($0) } ?? false)
        if !isKnown {
            if isNothing {
                connection.push(LivePush.value(path, Node.empty, tag: tag))
            } else if query.query == nil {
                connection.push(LivePush.valueOrParts(path, json.span))
            } else {
                connection.push(LivePush.value(path, json.span, tag: tag))
            }
        }
        hasShown = true
        showsNothing = false
        didShow(commit)
    }
}
