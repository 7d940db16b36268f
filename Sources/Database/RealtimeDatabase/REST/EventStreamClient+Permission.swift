import EventLoop
import HTTP
import Rules

/// Asks whether a stream may go on: when the rules change, and when the state that they looked at may have changed.
extension EventStreamClient {
    /// A sign of life, where nothing else is on its way.
    func beat() {
        guard case .live = state else { return }
        guard call.credentialHolds() else { return endWithCredential() }
        guard !isCongested else { return }
        write(EventFrames.keepAlive)
        // Data or time may have taken the permission back without a change of the place.
        if permission.mayEnd { judge() }
    }

    /// The token has ended, or its service account: says so, and ends the stream.
    func endWithCredential() { close(EventFrames.end("auth_revoked", RESTError.expired.message)) }

    /// Ends the stream and says why, unless a frame has begun that this would become a part of.
    func close(_ frame: [UInt8]) {
        if case .sending = state { return abort() }
        guard end() else { return }
        exchange.write(frame.span)
        exchange.end()
    }

    /// Other rules are in force: nothing more is told until they have allowed it.
    func rejudge() {
        permission.rulesChanged()
        judge()
    }

    /// Asks whether the stream may go on in the newest state.
    func judge() {
        guard let namespace, !permission.isUnconditional, !permission.isAsked else { return }
        switch state {
        // A read asks too.
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
                permission.isLasting = !found.dependsOnState
                go()
            }
        }
    }
}
