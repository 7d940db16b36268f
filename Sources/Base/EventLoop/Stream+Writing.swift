import HearthBytes
import CLibuv
import CLinux

extension Stream {
    /// Queues `bytes`, which are sent at the end of the turn.
    public func write(_ bytes: Span<UInt8>) {
        outbox.append(bytes)
        queueFlush()
    }

    /// Queues `bytes`, which are sent at the end of the turn.
    public func write(_ bytes: [UInt8]) {
        outbox.append(bytes)
        queueFlush()
    }

    /// Queues `text`, which is sent at the end of the turn.
    public func write(_ text: StaticString) {
        outbox.append(text)
        queueFlush()
    }

    /// Sends the contents of ``outbox`` at the end of the turn.
    @inline(__always)
    public func queueFlush() {
        guard !isDirty else { return }
        isDirty = true
        loop.markDirty(self)
    }

    /// Bytes that the kernel has not taken yet.
    public var pendingBytes: Int { outbox.count + inFlight.count }

    /// Bytes that the peer has not acknowledged. Falls whenever the peer takes something. One system call.
    public var unsentBytes: Int {
        guard let descriptor else { return 0 }
        return outbox.count + uv_stream_get_write_queue_size(handle) + Int(linux_unacknowledged_bytes(descriptor))
    }

    /// Whether so much is queued that a writer should wait for `streamDidDrain`.
    public var isCongested: Bool { isCongested(beyond: highWatermark) }

    /// Whether more than `bytes` are queued; if so, `streamDidDrain` is called when most of them have been sent.
    @inline(__always)
    public func isCongested(beyond bytes: Int) -> Bool {
        guard pendingBytes > bytes else { return false }
        wasCongested = true
        return true
    }

    /// Writes queued bytes to the kernel directly as far as it takes them, the rest when the socket is writable.
    func flush() {
        isDirty = false
        guard state != .closed else {
            outbox.clear(keepingAtMost: 0)
            return
        }
        guard inFlight.isEmpty else { return countPending() }
        let hasMore = asksBeforeFlush && state == .open && handler?.streamWillFlush(self) == true
        if let tls { seal(tls) }
        if !outbox.isEmpty { writeOutbox() }
        if charge.bytes != 0 { countPending() }
        if state == .finishing, inFlight.isEmpty { shutdown() }
        reportDrain()
        if hasMore, inFlight.isEmpty { queueFlush() }
    }

    private func seal(_ tls: TLSSession) {
        var ciphertext = ByteBuffer()
        do throws(TLSError) {
            if !outbox.isEmpty { try tls.send(outbox.bytes, ciphertext: &ciphertext) }
            outbox.clear()
            if state == .finishing { tls.close(ciphertext: &ciphertext) }
            tls.takeHandshakeOutput(into: &ciphertext)
        } catch {
            fail(LoopError(code: UV_EPROTO.rawValue, operation: "TLS", subject: error.description))
            return
        }
        swap(&outbox, &ciphertext)
    }

    private func writeOutbox() {
        let taken = outbox.withUnsafeBytes { bytes in
            var buffer = Self.buffer(bytes)
            return uv_try_write(handle, &buffer, 1)
        }
        if taken == outbox.count {
            outbox.clear(keepingAtMost: 512)
        } else if taken >= 0 || taken == UV_EAGAIN.rawValue {
            outbox.consume(Int(max(taken, 0)))
            writeLater()
        } else {
            fail(LoopError(code: taken, operation: "write"))
        }
    }

    private func writeLater() {
        swap(&outbox, &inFlight)
        let request = writeRequest ?? .allocate(capacity: 1)
        writeRequest = request
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let code = inFlight.withUnsafeBytes { bytes in
            var buffer = Self.buffer(bytes)
            return uv_write(request, handle, &buffer, 1) { request, status in
                guard let data = request?.pointee.data else { return }
                Unmanaged<Stream>.fromOpaque(data).takeRetainedValue().didWrite(status)
            }
        }
        if code < 0 {
            Unmanaged.passUnretained(self).release()
            inFlight.clear(keepingAtMost: 0)
            return fail(LoopError(code: code, operation: "write"))
        }
        countPending()
    }

    /// Charges the queued bytes to the peer's share.
    private func countPending() {
        guard state != .closed else { return }
        if !charge.isBound { charge = handler?.memory(for: self) ?? MemoryCharge() }
        charge.set(to: pendingBytes)
    }

    /// Whether `bytes` more may be queued for the peer. If so they are charged until the end of the turn, when the real number is known.
    public func reserve(_ bytes: Int) -> Bool {
        guard state != .closed else { return true }
        if !charge.isBound { charge = handler?.memory(for: self) ?? MemoryCharge() }
        queueFlush()
        return charge.grow(to: pendingBytes + bytes) == .granted
    }

    private func didWrite(_ status: Int32) {
        inFlight.clear(keepingAtMost: 0)
        charge.set(to: state == .closed ? 0 : outbox.count)
        guard state != .closed else {
            freeWriteRequest()
            return
        }
        if status < 0 {
            fail(LoopError(code: status, operation: "write"))
        } else if outbox.isEmpty, state == .open, !asksBeforeFlush {
            reportDrain()
        } else {
            queueFlush()
        }
    }

    private func reportDrain() {
        guard wasCongested, state == .open, pendingBytes <= highWatermark / 4 else { return }
        wasCongested = false
        handler?.streamDidDrain(self)
    }

    private func shutdown() {
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let code = uv_shutdown(request, handle) { request, _ in request?.deallocate() }
        if code < 0 { request.deallocate() }
    }

    private static func buffer(_ bytes: UnsafeRawBufferPointer) -> uv_buf_t {
        // libuv takes a mutable pointer but only reads through it. `uv_buf_init` is limited to 4 GiB.
        uv_buf_t(base: UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)), len: bytes.count)
    }
}
