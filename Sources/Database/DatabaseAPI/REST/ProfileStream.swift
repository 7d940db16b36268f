import EventLoop
import HTTP
import RealtimeDatabase

/// The profiler (spec database 2.8): an event stream of the operations on a namespace.
final class ProfileStream: OpenStream, HTTPExchangeObserver {
    private let call: RESTCall
    private let namespace: Namespace
    private var isCongested = false
    private var expiry: Timer?
    private lazy var queue = ProfileQueue(loop: call.front.loop, bytesMax: call.front.settings.streamBacklogBytesMax) { [weak self] in self?.go() }

    init(_ call: RESTCall, _ namespace: Namespace) {
        self.call = call
        self.namespace = namespace
    }

    /// Starts the stream.
    func open() throws(RESTError) {
        try call.front.streams.admit(self, of: call.namespaceName)
        do throws(RESTError) {
            expiry = try call.expiryTimer { [unowned self] in endWithCredential() }
        } catch {
            call.front.streams.dismiss(self)
            throw error
        }
        namespace.profile.add(queue)
        call.exchange.observer = self
        EventFrames.startAnswer(call.exchange)
        // The first event shows the client that nothing will be missed from now on.
        beat()
    }

    private func endWithCredential() { close(EventFrames.end("auth_revoked", call.endOfCredential)) }

    func beat() {
        guard call.credentialHolds() else { return endWithCredential() }
        if !isCongested { write(EventFrames.keepAlive) }
    }

    func close() { close([]) }

    /// Ends the stream with a last frame.
    private func close(_ frame: [UInt8]) {
        end()
        write(queue.take())
        write(frame)
        call.exchange.end()
    }

    func exchangeDidClose(_ exchange: HTTPExchange) { end() }

    func exchangeDidDrain(_ exchange: HTTPExchange) {
        isCongested = false
        go()
    }

    private func end() {
        expiry?.close()
        expiry = nil
        namespace.profile.remove(queue)
        call.front.streams.dismiss(self)
    }

    /// Sends the waiting frames when the client has taken the previous ones.
    private func go() {
        if !isCongested { write(queue.take()) }
    }

    private func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if call.exchange.write(bytes.span) == .congested { isCongested = true }
    }
}

extension RESTCall {
    /// Handles `/.settings/profile.json`: reports every operation on the namespace from now on.
    func profile() throws(RESTError) {
        guard wantsStream else {
            throw .badRequest("The profiler is an event stream: ask for it with GET and \"Accept: text/event-stream\"")
        }
        try ProfileStream(self, try namespace()).open()
    }
}
