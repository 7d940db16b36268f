import EventLoop
import HTTP
import RealtimeDatabase
import Rules

/// Checks whether a stream may continue: when the rules change, and when the data that they depend on may have changed.
extension EventStreamClient {
    /// Sends a keep-alive event, unless other data is waiting.
    func beat() {
        guard case .live = state else { return }
        guard call.credentialHolds() else { return endWithCredential() }
        guard !isCongested else { return }
        write(EventFrames.keepAlive)
        // Other data or the time may have ended the permission without a change at the place.
        if permission.mayEnd { judge() }
    }

    /// Ends the stream because the token has expired or its service account was deleted, with an event that says so.
    func endWithCredential() { close(EventFrames.end("auth_revoked", RESTError.expired.message)) }

    /// Ends the stream with a last event, unless this would become part of an incomplete frame.
    func close(_ frame: [UInt8]) {
        if case .sending = state { return abort() }
        guard end() else { return }
        exchange.write(frame.span)
        exchange.end()
    }

    /// Starts to use new rules: nothing more is sent until they have allowed it.
    func rejudge() {
        permission.rulesChanged()
        if watching != nil {
            endWatch()
            permission.isAsked = false
        }
        judge()
    }

    /// Asks whether the stream may continue in the newest state, and how long.
    func judge() {
        guard let namespace, !permission.isUnconditional, !permission.isAsked else { return }
        switch state {
        // A read checks the permission too.
        case .waiting, .reading, .over: return
        case .sending, .live: break
        }
        permission.isAsked = true
        let rules = permission.rulesSeen
        namespace.permission(request, on: call.front.loop) { [self] result in
            permission.isAsked = false
            switch result {
            case .failure(let error): refuse(error)
            case .success where rules != permission.rulesSeen: judge()
            case .success(let found) where !found.isAllowed: refuse(.permissionDenied())
            case .success(let found):
                permission.wasGranted(at: found.commit)
                switch found.duration {
                case .always: permission.holdsWithRules()
                case .untilChange(let places): watch(places, since: found.commit)
                case .once: break
                }
                go()
            }
        }
    }

    /// Has changes of the places reported on which the permission depends.
    private func watch(_ places: [WatchedPlace], since commit: UInt64) {
        guard let topic else { return }
        endWatch()
        let rules = permission.rulesSeen
        watching = topic.watch(places, since: commit) { [weak self] news in
            guard let self, rules == permission.rulesSeen, watching != nil else { return }
            permission.isAsked = false
            switch news {
            case .holds(let commit): permission.isWatched(upTo: commit)
            case .changed:
                permission.mayHaveChanged()
                watching = nil
                judge()
            }
            go()
        }
        // The first news completes the check.
        permission.isAsked = watching != nil
    }

    func endWatch() {
        watching?.end()
        watching = nil
    }
}
