import CNGHTTP2
import EventLoop
import HearthBytes

/// A connection that speaks HTTP/2. nghttp2 reads and writes the frames; each stream is an exchange of the server.
///
/// Answers are turned into frames when the outbox is about to be sent, as far as the client's windows and the socket admit. What is not admitted
/// waits in its stream, is charged to the memory budget, and makes writers wait.
final class HTTP2Connection: UpgradedProtocol {
    /// The connection below. It is freed when it has ended, so it is not used from then on.
    unowned(unsafe) let connection: HTTPConnection
    let service: HTTP2Service
    /// nghttp2's session; nil after the end.
    var session: OpaquePointer?
    private(set) var streams: [HTTP2Stream] = []
    var freeStreams: [HTTP2Stream] = []
    /// The header block that is arriving.
    var head = HTTP2Head()
    /// The stream of that block; 0 for one whose fields are not wanted.
    var headID: Int32 = 0
    /// The time at which the block began; 0 for none.
    var headSince: UInt64 = 0
    /// The streams whose observers may write again.
    var drained: [HTTP2Stream] = []
    /// Bytes of answers that wait in the streams.
    private var unsentBytes = 0
    private var charge = MemoryCharge()
    private var resets: Allowance
    private var idleFrames: Allowance
    var leaving = Leaving.no
    var idleSince: UInt64
    var hasHadStream = false
    /// Whether nghttp2 is on the stack: it may not be entered again nor freed.
    private var isInside = false
    var hasEnded = false
    /// Whether this side has announced the end, for a reason that was counted.
    var isEndCounted = false
    /// Whether the connection ends without waiting for its streams.
    var isTerminated = false
    /// The newest stream, and those before it that were left out.
    private var lastID: Int32 = 0
    private var skipped: [Range<Int32>] = []

    init(_ connection: HTTPConnection, _ service: HTTP2Service) {
        self.connection = connection
        self.service = service
        let now = connection.stream.loop.nowMilliseconds
        idleSince = now
        resets = Allowance(service.limits.resetsMax, perSecond: service.limits.resetsMax / 10, now: now)
        idleFrames = Allowance(service.limits.idleFramesMax, perSecond: service.limits.idleFramesMax / 20, now: now)
        service.figures.connections += 1
        service.figures.connectionsOpen += 1
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        guard nghttp2_session_server_new2(&session, service.callbacks, pointer, service.options) == 0 else {
            session = nil
            return
        }
        connection.stream.asksBeforeFlush = true
        submitSettings()
    }

    deinit { nghttp2_session_del(session) }

    private func submitSettings() {
        let limits = service.limits
        let http = connection.server.limits
        var settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(limits.streamsMax)),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(limits.windowBytes)),
            // Clients count 32 bytes more for each field.
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(clamping: http.headBytesMax + 32 * http.headerCountMax)),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
        ]
        nghttp2_submit_settings(session, 0, &settings, settings.count)
        nghttp2_session_set_local_window_size(session, 0, 0, Int32(clamping: max(limits.windowBytes * 4, 1 << 20)))
        wantsFlush()
    }

    // MARK: The connection

    var now: UInt64 { connection.stream.loop.nowMilliseconds }
    var server: HTTPServer { connection.server }
    var peerAddress: String { connection.peerAddress }
    var memoryShare: MemoryShare? { connection.memoryShare }
    var isBusy: Bool { !streams.isEmpty }
    var isPaused: Bool { false }
    var unfinishedBytes: Int { 0 }

    /// Whether the client reads too slowly for further requests.
    var isOverfull: Bool { unsentBytes > 0 && server.memory.answers.isFull }

    func wantsFlush() { connection.stream.queueFlush() }

    func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let session, !hasEnded else { return }
        isInside = true
        let used = nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count)
        isInside = false
        guard !hasEnded else { return }
        // The session cannot go on. Without the preface the client may speak anything.
        if used < 0 { end(.violation, used == Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue) ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_INTERNAL_ERROR) }
        wantsFlush()
    }

    func fillOutbox() -> Bool {
        guard let session, !isInside, !hasEnded else { return false }
        isInside = true
        let isFull = send(session)
        isInside = false
        guard !hasEnded else { return false }
        countUnsent()
        tellDrained()
        guard !hasEnded else { return false }
        if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 {
            connection.beginClosing()
            return false
        }
        return isFull
    }

    /// Appends frames to the outbox until it is full.
    ///
    /// - Returns: whether it is full.
    private func send(_ session: OpaquePointer) -> Bool {
        let stream = connection.stream
        while !stream.isCongested {
            var data: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &data)
            guard count > 0, let data else { return stream.isCongested }
            stream.outbox.append(UnsafeRawBufferPointer(start: data, count: count))
        }
        return true
    }

    private func tellDrained() {
        while !drained.isEmpty {
            let streams = drained
            drained.removeAll(keepingCapacity: true)
            for stream in streams where !hasEnded { stream.tellDrained() }
        }
    }

    func didDrain() { wantsFlush() }

    func giveUp() {}

    func connectionDidEnd() {
        guard !hasEnded else { return }
        hasEnded = true
        service.figures.connectionsOpen -= 1
        service.figures.streamsOpen -= streams.count
        let open = streams
        streams = []
        for stream in open { stream.giveUp() }
        unsentBytes = 0
        charge.set(to: 0)
        head.release()
        guard !isInside else { return }
        nghttp2_session_del(session)
        session = nil
    }

    // MARK: Memory

    /// Counts bytes that a stream has got, or given up if negative.
    func addUnsent(_ bytes: Int) { unsentBytes += bytes }

    /// Whether `bytes` more may wait for the client. They are charged until the end of the turn, when the real number is known.
    func reserve(_ bytes: Int) -> Bool {
        bindCharge()
        wantsFlush()
        return charge.grow(to: unsentBytes + bytes) == .granted
    }

    private func countUnsent() {
        guard unsentBytes > 4096 || charge.bytes != 0 else { return }
        bindCharge()
        charge.set(to: unsentBytes)
    }

    private func bindCharge() {
        if !charge.isBound { charge = MemoryCharge(server.memory.answers, memoryShare) }
    }

    // MARK: Streams

    /// Notes the newest stream.
    func noteID(_ id: Int32) {
        guard id > lastID else { return }
        if id > lastID + 2 { skipped = skipped.suffix(15) + [lastID + 1..<id] }
        lastID = id
    }

    func open(_ id: Int32) {
        noteID(id)
        let stream = freeStreams.popLast() ?? HTTP2Stream(self)
        stream.begin(id)
        stream.index = streams.count
        streams.append(stream)
        hasHadStream = true
        service.figures.streams += 1
        service.figures.streamsOpen += 1
        nghttp2_session_set_stream_user_data(session, id, Unmanaged.passUnretained(stream).toOpaque())
    }

    /// Whether a client left the stream out, which closes it (RFC 9113 section 5.1.1). nghttp2 does not remember.
    func wasSkipped(_ id: Int32) -> Bool { id < lastID && skipped.contains { $0.contains(id) } }

    func stream(_ id: Int32) -> HTTP2Stream? {
        nghttp2_session_get_stream_user_data(session, id).map { Unmanaged<HTTP2Stream>.fromOpaque($0).takeUnretainedValue() }
    }

    /// A stream has ended, for the client or for both.
    func didClose(_ stream: HTTP2Stream, _ code: UInt32) {
        nghttp2_session_set_stream_user_data(session, stream.id, nil)
        if code != NGHTTP2_NO_ERROR.rawValue { didReset(byClient: stream.isResetByClient) }
        // The rest of its head is skipped.
        if stream.id == headID { endHead() }
        addUnsent(-stream.answer.count)
        stream.answer.clear(keepingAtMost: 16 * 1024)
        stream.giveUp()
        guard !hasEnded else { return }
        drained.removeAll { $0 === stream }
        streams[stream.index] = streams[streams.count - 1]
        streams[stream.index].index = stream.index
        streams.removeLast()
        freeStreams.append(stream)
        service.figures.streamsOpen -= 1
        if streams.isEmpty { idleSince = now }
    }

    /// The header block is complete, or of no interest.
    func endHead() {
        headID = 0
        headSince = 0
    }

    /// A stream was reset. Resets are cheap for a client, and the work that they cancel is not (CVE-2023-44487).
    func didReset(byClient: Bool) {
        if byClient { service.figures.resetsByClients += 1 } else { service.figures.resetsByServer += 1 }
        if !resets.spend(1, now) { end(.resets, NGHTTP2_ENHANCE_YOUR_CALM) }
    }

    /// A frame brought neither a request nor data.
    func didReceiveIdleFrame(_ cost: Int = 1) {
        if !idleFrames.spend(cost, now) { end(.flood, NGHTTP2_ENHANCE_YOUR_CALM) }
    }

    /// Frames that go with requests and data.
    func earnFrames(_ count: Int) { idleFrames.earn(count) }

    /// Ends a stream whose answer does not need the rest of the request (RFC 9113 section 8.1).
    func endRequest(of stream: HTTP2Stream) {
        nghttp2_submit_rst_stream(session, 0, stream.id, NGHTTP2_NO_ERROR.rawValue)
        wantsFlush()
    }

    func reset(_ stream: HTTP2Stream, _ code: nghttp2_error_code) {
        addUnsent(-stream.answer.count)
        stream.answer.clear(keepingAtMost: 16 * 1024)
        nghttp2_submit_rst_stream(session, 0, stream.id, code.rawValue)
        wantsFlush()
    }

    /// Refuses a stream before it has started; the client may repeat its request elsewhere.
    func refuseStream(_ id: Int32) {
        nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_REFUSED_STREAM.rawValue)
        service.figures.streams += 1
        didReset(byClient: false)
    }

    func resume(_ stream: HTTP2Stream) { nghttp2_session_resume_data(session, stream.id) }

    /// Opens the windows for bytes that were taken; for `nil` the window of the connection alone.
    func consume(_ stream: HTTP2Stream?, _ count: Int) {
        guard count > 0 else { return }
        if let stream { nghttp2_session_consume(session, stream.id, count) } else { nghttp2_session_consume_connection(session, count) }
        wantsFlush()
    }

    /// Opens the window of the stream alone.
    func consumeStream(_ stream: HTTP2Stream, _ count: Int) {
        nghttp2_session_consume_stream(session, stream.id, count)
        wantsFlush()
    }

    // MARK: Answers

    /// Passes the head of an answer on; its fields are in the server's buffer.
    func submitHead(of stream: HTTP2Stream, _ status: HTTPStatus, isWhole: Bool) {
        service.gatherFields(status, server)
        var source = nghttp2_data_provider()
        source.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
        source.read_callback = readAnswer
        if isWhole {
            nghttp2_submit_response(session, stream.id, service.fields, service.fields.count, nil)
        } else {
            nghttp2_submit_response(session, stream.id, service.fields, service.fields.count, &source)
        }
        wantsFlush()
    }

    /// Asks for the body of a request (RFC 9110 section 15.2.1).
    func submitContinue(of stream: HTTP2Stream) {
        server.fieldLines.clear()
        service.gatherFields(HTTPStatus(rawValue: 100), server)
        nghttp2_submit_headers(session, 0, stream.id, nil, service.fields, service.fields.count, nil)
        wantsFlush()
    }

    /// Appends a frame of data to the outbox.
    ///
    /// - Returns: false if the outbox is full.
    func sendData(_ frameHead: UnsafePointer<UInt8>, _ count: Int, of stream: HTTP2Stream) -> Bool {
        guard !connection.stream.isCongested else { return false }
        connection.stream.outbox.append(UnsafeRawBufferPointer(start: frameHead, count: 9))
        stream.answer.withUnsafeBytes { connection.stream.outbox.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        stream.didSend(count)
        unsentBytes -= count
        idleFrames.earn(2)
        return true
    }
}
