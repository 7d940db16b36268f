import CNGHTTP2
import HearthBytes

/// The calls of nghttp2. They may submit frames, but neither read nor send any.
extension HTTP2Connection {
    static func set(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame, let connection = HTTP2Connection.from(user) else { return 0 }
            connection.didBeginHead(frame)
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameCount, value, valueCount, _, user in
            guard let connection = HTTP2Connection.from(user) else { return 0 }
            return connection.didReceiveField(
                UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount))
        }
        // Without this, invalid fields would be left out, and the request would go on without them.
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, flags, id, bytes, count, user in
            guard let connection = HTTP2Connection.from(user) else { return 0 }
            connection.didReceiveData(
                of: id, UnsafeBufferPointer(start: bytes, count: count), isLast: flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0)
            return 0
        }
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, user in
            guard let header, let connection = HTTP2Connection.from(user) else { return 0 }
            connection.didBeginFrame(header.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame, let connection = HTTP2Connection.from(user) else { return 0 }
            connection.didReceiveFrame(frame)
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, user in
            guard let frame, let connection = HTTP2Connection.from(user) else { return 0 }
            connection.didReceiveInvalidFrame(frame.pointee.hd)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, user in
            guard let connection = HTTP2Connection.from(user), let stream = connection.stream(id) else { return 0 }
            connection.didClose(stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame, frame.pointee.hd.type == UInt8(NGHTTP2_GOAWAY.rawValue) else { return 0 }
            HTTP2Connection.from(user)?.didAnnounceEnd(frame.pointee.goaway.error_code)
            return 0
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, _, frameHead, count, source, user in
            guard let frameHead, let connection = HTTP2Connection.from(user), let pointer = source?.pointee.ptr else { return 0 }
            let stream = Unmanaged<HTTP2Stream>.fromOpaque(pointer).takeUnretainedValue()
            return connection.sendData(frameHead, count, of: stream) ? 0 : NGHTTP2_ERR_WOULDBLOCK.rawValue
        }
    }

    private static func from(_ user: UnsafeMutableRawPointer?) -> HTTP2Connection? {
        user.map { Unmanaged<HTTP2Connection>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Heads

    private func didBeginHead(_ frame: UnsafePointer<nghttp2_frame>) {
        head.reset()
        headSince = max(1, now)
        headID = 0
        // Other blocks are trailers, which nobody asks for.
        guard frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return }
        let id = frame.pointee.hd.stream_id
        guard !server.isHolding else { return refuseStream(id) }
        headID = id
        open(id)
    }

    private func didReceiveField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int32 {
        head.add(name, value, bytesMax: headID == 0 ? 0 : server.limits.headBytesMax)
        guard head.decodedBytes > server.limits.headBytesMax * HTTP2Limits.headBytesFactor else { return 0 }
        end(.fields, NGHTTP2_ENHANCE_YOUR_CALM)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    // MARK: Frames

    /// A frame that nghttp2 refuses. Its stream, if it would have been a new one, was not left out.
    private func didReceiveInvalidFrame(_ header: nghttp2_frame_hd) {
        didReceiveIdleFrame(10)
        if header.type == UInt8(NGHTTP2_HEADERS.rawValue) { noteID(header.stream_id) }
    }

    /// Checks what nghttp2 does not.
    private func didBeginFrame(_ header: nghttp2_frame_hd) {
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_CONTINUATION: return
        case NGHTTP2_PRIORITY:
            // Ignored otherwise, as these priorities are out of use.
            didReceiveIdleFrame()
            if header.stream_id == 0 { end(.violation, NGHTTP2_PROTOCOL_ERROR) }
            if header.length != 5 { end(.violation, NGHTTP2_FRAME_SIZE_ERROR) }
        case NGHTTP2_HEADERS where wasSkipped(header.stream_id): end(.violation, NGHTTP2_PROTOCOL_ERROR)
        default: break
        }
        // Only continuations follow within a block.
        if headSince != 0 { endHead() }
    }

    private func didReceiveData(of id: Int32, _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) {
        earnFrames(1)
        guard let stream = stream(id) else { return consume(nil, bytes.count) }
        stream.receive(bytes, isLast: isLast)
    }

    private func didReceiveFrame(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let isLast = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS: didReceiveHead(header, isLast: isLast)
        case NGHTTP2_DATA:
            if header.length == frame.pointee.data.padlen, !isLast { didReceiveIdleFrame() }
            if isLast { stream(header.stream_id)?.didReceiveAll() }
        case NGHTTP2_RST_STREAM:
            stream(header.stream_id)?.isResetByClient = true
            didReceiveIdleFrame()
        case NGHTTP2_PING:
            didReceiveIdleFrame()
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { didReceivePong() }
        // Counted when it began.
        case NGHTTP2_PRIORITY: break
        default: didReceiveIdleFrame()
        }
    }

    private func didReceiveHead(_ header: nghttp2_frame_hd, isLast: Bool) {
        let isRequest = headID == header.stream_id
        endHead()
        earnFrames(4)
        guard let stream = stream(header.stream_id) else { return }
        if isRequest {
            stream.hasWholeRequest = isLast
            stream.start(&head)
        } else if isLast {
            stream.didReceiveAll()
        }
    }
}

/// Tells nghttp2 how much of an answer there is. The bytes themselves go directly from the stream to the outbox.
let readAnswer: nghttp2_data_source_read_callback = { _, _, _, room, flags, source, _ in
    guard let pointer = source?.pointee.ptr, let flags else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    let stream = Unmanaged<HTTP2Stream>.fromOpaque(pointer).takeUnretainedValue()
    let count = min(room, stream.answer.count)
    if count == stream.answer.count, stream.hasEnded {
        flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
        stream.isAnswerSent = true
    } else if count == 0 {
        stream.isDeferred = true
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
    flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
    return count
}
