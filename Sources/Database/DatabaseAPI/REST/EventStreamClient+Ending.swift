import HTTP
import RealtimeDatabase

/// Keeps a stream open, and ends it.
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

    /// Ends the stream because a token has expired or its service account was deleted, with an event that says so.
    func endWithCredential() { close(EventFrames.end("auth_revoked", call.endOfCredential)) }

    /// Ends the stream with a last event, unless this would become part of an incomplete frame.
    func close(_ frame: [UInt8]) {
        if case .sending = state { return abort() }
        guard end() else { return }
        exchange.write(frame.span)
        exchange.end()
    }

    /// Ends the stream. The client reconnects.
    func close() {
        if case .sending = state { return abort() }
        guard end() else { return }
        if exchange.isAnswered { exchange.end() } else { call.refuse(RESTError(DatabaseError.stopping)) }
    }

    /// Ends the stream within a frame. Clients ignore an incomplete frame.
    func abort() {
        if end() { exchange.abort() }
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
}
