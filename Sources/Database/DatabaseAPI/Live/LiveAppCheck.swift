import EventLoop
import RealtimeDatabase

/// The App Check token of a live connection (spec database 3.1, 3.4, 3.5).
final class LiveAppCheck {
    /// The client's proof that it is an app of the project.
    enum State {
        /// The client has sent no token, or withdrawn it.
        case missing
        /// The client has sent a token that is not accepted.
        case refused(LiveRefusal)
        /// - Parameter expires: in seconds since 1970; nil if it does not expire.
        case valid(expires: Int64?)
    }

    let isEnforced: Bool
    private(set) var state = State.missing
    private var expiry: Timer?

    init(isEnforced: Bool) { self.isEnforced = isEnforced }

    /// Whether the token is valid.
    var isValid: Bool {
        if case .valid = state { true } else { false }
    }

    /// Whether a valid token has expired: the clock may have been set.
    var hasExpired: Bool {
        guard case .valid(let expires?) = state else { return false }
        return expires * 1000 <= UnixTime.milliseconds()
    }

    /// Replaces the token.
    ///
    /// - Parameter didExpire: called when the new one expires.
    func set(_ state: State, loop: EventLoop, didExpire: @escaping () -> Void) {
        self.state = state
        close()
        if case .valid(let expires?) = state { expiry = Timer.atExpiry(expires, loop: loop, didExpire) }
    }

    func close() {
        expiry?.close()
        expiry = nil
    }
}

/// Enforces App Check.
///
/// A client without any token is not set up for App Check, so its requests are refused. A token that is not accepted, or has expired, ends the
/// connection when data is requested: the client connects again with a fresh one, and keeps its listens. Administrators need no token. They may
/// sign in after the connection was opened, so nothing is refused before the first request for data.
extension LiveConnection {
    /// Whether requests for data are refused because of App Check.
    var lacksApp: Bool { app.isEnforced && !app.isValid && !requester.isAdmin }

    /// Performs `appcheck`. Where App Check is not enforced, every token is accepted, because clients of Apple devices close on any other answer.
    func checkApp(_ token: [UInt8], _ reply: LiveReply) {
        guard app.isEnforced else { return succeed(reply) }
        verifyApp(token) { [self] refusal in
            if let refusal { complete(reply, refusal) } else { complete(reply, "ok", payload: "\"\"") }
            judgeApp()
            didRun()
        }
    }

    /// Verifies a token, which replaces the one before. Nothing else may run until `completion` has been called, with the reason of a refusal.
    func verifyApp(_ token: [UInt8], completion: @escaping (LiveRefusal?) -> Void) {
        credentials.check(app: token) { [self] result in
            switch result {
            case .success(let expires): use(.valid(expires: expires))
            case .failure(let refusal): use(.refused(refusal))
            }
            if case .failure(let refusal) = result { completion(refusal) } else { completion(nil) }
        }
    }

    /// Performs `unappcheck`.
    func endApp(_ reply: LiveReply) {
        use(.missing)
        judgeApp()
        succeed(reply)
    }

    private func use(_ state: LiveAppCheck.State) {
        // The timer must not keep a connection that has ended.
        guard transport != nil else { return }
        app.set(state, loop: front.loop) { [weak self] in self?.appDidExpire() }
    }

    /// Answers a request for data of a client that lacks a token.
    func refuseWithoutApp(_ reply: LiveReply) {
        if case .refused(let refusal) = app.state {
            // Answers would end the client's listens for good.
            revoke(LivePush.revocation("apc", refusal))
        } else {
            credentials.appWasMissing()
        }
        complete(reply, .appIsMissing)
        didRun()
    }

    /// Ends what the client may no longer have, after a change of the token or the user.
    func judgeApp() {
        guard lacksApp, !listens.isEmpty else { return }
        if case .refused(let refusal) = app.state { return revoke(LivePush.revocation("apc", refusal)) }
        for listen in Array(listens.values) { listen.refuse(.permissionDenied()) }
    }

    /// Notices that the token has expired although the timer has not ended: the clock may have been set.
    func checkAppExpiry() {
        if app.hasExpired { appDidExpire() }
    }

    private func appDidExpire() {
        app.set(.refused(.appHasExpired), loop: front.loop) {}
        // An administrator goes on.
        guard lacksApp else { return }
        revoke(LivePush.revocation("apc", .appHasExpired))
    }
}
