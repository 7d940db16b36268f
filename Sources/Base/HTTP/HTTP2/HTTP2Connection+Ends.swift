import CNGHTTP2
import EventLoop

/// Ends of connections, and their deadlines.
extension HTTP2Connection {
    /// How far the orderly end has come (RFC 9113 section 6.8).
    enum Leaving {
        case no
        /// The client knows that it should open no more streams.
        case announced(since: UInt64)
        /// The client has read that.
        case acknowledged
        /// No further stream is accepted.
        case final
    }

    /// Announces the end of the connection and accepts nothing more.
    func end(_ reason: HTTP2Figures.Ending, _ code: nghttp2_error_code) {
        guard !isTerminated else { return }
        isTerminated = true
        countEnd(reason)
        leaving = .final
        nghttp2_session_terminate_session(session, code.rawValue)
        wantsFlush()
    }

    func hold() { announce() }

    /// Asks the client to open no further streams.
    private func announce() {
        guard case .no = leaving else { return }
        leaving = .announced(since: now)
        nghttp2_submit_shutdown_notice(session)
        wantsFlush()
    }

    /// The frame that announces the end was sent. Streams that are on their way arrive before the answer to the ping. nghttp2 would send the ping
    /// first if both were submitted together.
    func didAnnounceEnd(_ code: UInt32) {
        if case .announced = leaving { nghttp2_submit_ping(session, 0, nil) }
        if code != NGHTTP2_NO_ERROR.rawValue { countEnd(.violation) }
    }

    private func countEnd(_ reason: HTTP2Figures.Ending) {
        guard !isEndCounted else { return }
        isEndCounted = true
        service.figures.count(reason)
    }

    func didReceivePong() {
        guard case .announced = leaving else { return }
        leaving = .acknowledged
        if mustLeave { finishLeaving() }
    }

    /// Whether no request is accepted any more, or soon.
    private var mustLeave: Bool { server.isDraining || server.receiver != nil }

    private func leave(_ now: UInt64) {
        switch leaving {
        case .no: announce()
        case .announced(let since):
            if server.receiver != nil || now - min(now, since) >= HTTPServer.endingPatienceMilliseconds { finishLeaving() }
        case .acknowledged: finishLeaving()
        case .final: break
        }
    }

    /// Accepts no further stream; the connection closes after the last one.
    private func finishLeaving() {
        leaving = .final
        countEnd(.stopping)
        nghttp2_submit_goaway(session, 0, nghttp2_session_get_last_proc_stream_id(session), NGHTTP2_NO_ERROR.rawValue, nil, 0)
        wantsFlush()
    }

    func check(_ now: UInt64) {
        guard !hasEnded else { return }
        guard session != nil else { return connection.beginClosing() }
        let limits = server.limits
        if mustLeave { leave(now) }
        if headSince != 0, now - min(now, headSince) >= limits.headTimeoutMilliseconds { return end(.fields, NGHTTP2_ENHANCE_YOUR_CALM) }
        if streams.isEmpty {
            let patience = hasHadStream ? limits.idleTimeoutMilliseconds : limits.headTimeoutMilliseconds
            if now - min(now, idleSince) >= patience { end(.idle, NGHTTP2_NO_ERROR) }
            freeStreams = []
            if headSince == 0 { head.release() }
        }
        var index = streams.count - 1
        while index >= 0, !hasEnded {
            if index < streams.count { streams[index].check(now) }
            index -= 1
        }
    }
}
