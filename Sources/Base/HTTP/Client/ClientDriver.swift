import CCurl
import EventLoop

/// Runs libcurl's multi interface on a loop: watches its sockets and timeout, starts and ends transfers.
/// Unchecked: created on any thread, but used only on the loop's thread, where HTTPClient posts every call.
final class ClientDriver: @unchecked Sendable {
    typealias Completion = (Result<ClientResponse, ClientError>) -> Void

    // Unowned, because work that a stopped loop still holds may refer to this object.
    private unowned let loop: EventLoop
    private let certificateAuthorityFile: String?
    private let admits: AddressRule?
    private var multi: UnsafeMutableRawPointer?
    private var timer: Timer?
    private var polls: [curl_socket_t: (poll: Poll, events: Poll.Events)] = [:]
    private var transfers: [UnsafeMutableRawPointer: ClientTransfer] = [:]
    private var isClosed = false

    /// The most idle connections kept for later requests.
    private static let connectionsMax = 16

    init(loop: EventLoop, certificateAuthorityFile: String?, admits: AddressRule?) {
        self.loop = loop
        self.admits = admits
        self.certificateAuthorityFile = certificateAuthorityFile
    }

    func start(_ request: ClientRequest, _ ticket: ClientTicket, _ completion: @escaping Completion) {
        loop.preconditionCurrent()
        guard !isClosed, !ticket.isCancelled else {
            completion(.failure(ClientError(.cancelled, "The request was cancelled.")))
            return
        }
        guard let multi = multi ?? openMulti() else {
            completion(.failure(ClientError(.unavailable, "libcurl has no memory for a transfer.")))
            return
        }
        let transfer: ClientTransfer
        do throws(ClientError) {
            transfer = try ClientTransfer(request, ticket, certificateAuthorityFile: certificateAuthorityFile, admits: admits, completion)
        } catch {
            completion(.failure(error))
            return
        }
        transfers[transfer.easy] = transfer
        let code = hearth_curl_multi_add(multi, transfer.easy)
        if code != CURLM_OK { end(transfer, with: .failure(ClientError(.transfer, "libcurl refused the transfer (\(code.rawValue))."))) }
    }

    func cancel(_ ticket: ClientTicket) {
        guard let transfer = transfers.values.first(where: { $0.ticket === ticket }) else { return }
        end(transfer, with: .failure(ClientError(.cancelled, "The request was cancelled.")))
    }

    func close() {
        loop.preconditionCurrent()
        isClosed = true
        for transfer in Array(transfers.values) {
            end(transfer, with: .failure(ClientError(.cancelled, "The client was closed.")))
        }
        if let multi { hearth_curl_multi_cleanup(multi) }
        multi = nil
        polls.removeAll()
        timer?.close()
        timer = nil
    }

    private func end(_ transfer: ClientTransfer, with result: Result<ClientResponse, ClientError>) {
        guard transfers.removeValue(forKey: transfer.easy) != nil else { return }
        if let multi { hearth_curl_multi_remove(multi, transfer.easy) }
        transfer.completion(result)
    }

    // MARK: Callbacks of libcurl

    private func openMulti() -> UnsafeMutableRawPointer? {
        guard let made = hearth_curl_multi_init() else { return nil }
        multi = made
        timer = Timer(loop: loop) { [unowned self] in act(on: CURL_SOCKET_TIMEOUT, 0) }
        hearth_curl_multi_set_long(made, CURLMOPT_MAXCONNECTS, Self.connectionsMax)
        hearth_curl_multi_set_watchers(
            made,
            { _, socket, what, context, _ in
                ClientDriver.from(context).watch(socket, what)
                return 0
            },
            { _, milliseconds, context in
                ClientDriver.from(context).wake(after: milliseconds)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        return made
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> ClientDriver {
        guard let context else { preconditionFailure("a callback of libcurl without its driver") }
        return Unmanaged<ClientDriver>.fromOpaque(context).takeUnretainedValue()
    }

    private func wake(after milliseconds: Int) {
        if milliseconds < 0 { timer?.stop() } else { timer?.start(afterMilliseconds: UInt64(milliseconds)) }
    }

    private func watch(_ socket: curl_socket_t, _ what: Int32) {
        guard what != CURL_POLL_REMOVE else {
            polls[socket] = nil
            return
        }
        var events: Poll.Events = []
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        do throws(LoopError) {
            let poll = try poll(for: socket)
            polls[socket] = (poll, events)
            try poll.watch(events)
        } catch {
            // The transfer of this socket ends by its timeout: libcurl cannot be notified of the failed watch.
            polls[socket] = nil
        }
    }

    private func poll(for socket: curl_socket_t) throws(LoopError) -> Poll {
        if let known = polls[socket] { return known.poll }
        return try Poll(loop: loop, descriptor: socket) { [unowned self] in didPoll(socket, $0) }
    }

    private func didPoll(_ socket: curl_socket_t, _ result: Result<Poll.Events, LoopError>) {
        switch result {
        case .success(let events):
            var mask: Int32 = 0
            if events.contains(.readable) { mask |= CURL_CSELECT_IN }
            if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
            act(on: socket, mask)
        case .failure:
            // Let libcurl read: an answer may have arrived before the connection broke, and only a read shows that a reused connection was
            // stale, which libcurl then replaces. The poll has ended, so the socket is watched anew if libcurl still needs it.
            act(on: socket, CURL_CSELECT_IN)
            if let left = polls[socket] { try? left.poll.watch(left.events) }
        }
    }

    private func act(on socket: curl_socket_t, _ events: Int32) {
        guard let multi else { return }
        hearth_curl_multi_action(multi, socket, events)
        var code = CURLE_OK
        while let easy = hearth_curl_multi_next_done(multi, &code) {
            guard let transfer = transfers[easy] else { continue }
            end(transfer, with: transfer.result(code))
        }
    }
}
