import HearthBytes
import CLibuv

extension Stream {
    /// Starts or resumes reading: the handler gets bytes as they arrive.
    public func startReading() {
        guard state != .closed, !isReading else { return }
        isReading = true
        if !isYielding { beginReading() }
    }

    private func beginReading() {
        let code = uv_read_start(
            handle,
            { handle, _, buffer in
                guard let handle, let data = handle.pointee.data else { return }
                let room = Unmanaged<Stream>.fromOpaque(data).takeUnretainedValue().room()
                buffer?.pointee = uv_buf_init(room?.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(room?.count ?? 0))
            },
            { handle, count, _ in
                guard let handle, let data = handle.pointee.data else { return }
                Unmanaged<Stream>.fromOpaque(data).takeUnretainedValue().didRead(count)
            })
        if code < 0 { fail(LoopError(code: code, operation: "read")) }
    }

    /// Stops reading. Data stays in the kernel, which slows the peer down.
    public func pauseReading() {
        guard state != .closed, isReading else { return }
        isReading = false
        if !isYielding { uv_read_stop(handle) }
    }

    /// The loop's buffer for a read; nil if the stream has to wait.
    private func room() -> UnsafeMutableRawBufferPointer? {
        if yielding != .never, !loop.yieldingReads.admits(self) {
            isYielding = true
            return nil
        }
        return loop.readBuffer
    }

    /// Reads in the next turn, after having waited.
    ///
    /// - Returns: whether anybody wants to read still.
    func continueReading() -> Bool {
        isYielding = false
        guard state != .closed, isReading else { return false }
        isNext = true
        beginReading()
        return true
    }

    /// The same as ``startReading()``, named for the call site.
    public func resumeReading() { startReading() }

    private func didRead(_ count: Int) {
        if isYielding {
            // Without a buffer nothing was read.
            uv_read_stop(handle)
        } else if count > 0 {
            let room = UnsafeRawBufferPointer(start: loop.readBuffer.baseAddress, count: count)
            room.withMemoryRebound(to: UInt8.self) { deliver(Span(_unsafeElements: $0)) }
        } else if count < 0 {
            isReading = false
            uv_read_stop(handle)
            let error = LoopError(code: Int32(count), operation: "read")
            if error.isEndOfFile { handler?.streamDidEnd(self) } else { fail(error) }
        }
    }

    private func deliver(_ bytes: Span<UInt8>) {
        guard let tls else {
            handler?.stream(self, didRead: bytes)
            return
        }
        // A TLS record does not begin with a letter (RFC 8446 section 5.1); the name of an HTTP method does.
        if !tls.hasReceived, bytes[0] &- UInt8(ascii: "A") < 26 {
            self.tls = nil
            handler?.streamDidReceivePlaintext(self)
            return
        }
        var plaintext = ByteBuffer()
        do throws(TLSError) {
            try tls.receive(bytes, plaintext: &plaintext)
        } catch {
            // Send the alert that gives the reason first.
            queueFlush()
            flush()
            fail(LoopError(code: UV_EPROTO.rawValue, operation: "TLS", subject: error.description))
            return
        }
        queueFlush()
        if !plaintext.isEmpty { handler?.stream(self, didRead: plaintext.bytes) }
        if tls.isPeerClosed, state != .closed { handler?.streamDidEnd(self) }
    }

    /// Starts TLS as the server. Call before the first byte is read or written.
    ///
    /// - Throws: `TLSError` when OpenSSL has no memory for a session.
    public func startTLS(_ context: TLSContext) throws(TLSError) {
        tls = try TLSSession(context: context)
    }
}
