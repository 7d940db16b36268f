import HearthBytes
import CLibuv

extension Stream {
    /// Queues `bytes`; they leave at the end of the turn.
    public func write(_ bytes: Span<UInt8>) {
        outbox.append(bytes)
        queueFlush()
    }

    /// Queues `bytes`; they leave at the end of the turn.
    public func write(_ bytes: [UInt8]) {
        outbox.append(bytes)
        queueFlush()
    }

    /// Queues `text`; it leaves at the end of the turn.
    public func write(_ text: StaticString) {
        outbox.append(text)
        queueFlush()
    }

    /// Lets what is in ``outbox`` leave at the end of the turn.
    @inline(__always)
    public func queueFlush() {
        guard !isDirty else { return }
        isDirty = true
        loop.markDirty(self)
    }

    /// Bytes that the kernel has not taken yet.
    public var pendingBytes: Int { outbox.count + inFlight.count }

    /// Whether so much waits that a writer should wait for `streamDidDrain`.
    public var isCongested: Bool { isCongested(beyond: highWatermark) }

    /// Whether more than `bytes` wait; if so, `streamDidDrain` tells when they have mostly left.
    @inline(__always)
    public func isCongested(beyond bytes: Int) -> Bool {
        guard pendingBytes > bytes else { return false }
        wasCongested = true
        return true
    }

    /// Hands what is queued to the kernel: directly as far as it takes it, the rest when it can.
    func flush() {
        isDirty = false
        guard state != .closed else {
            outbox.clear(keepingAtMost: 0)
            return
        }
        guard inFlight.isEmpty else { return countPending() }
        if let tls { seal(tls) }
        if !outbox.isEmpty { writeOutbox() }
        if charge.bytes != 0 { countPending() }
        if state == .finishing, inFlight.isEmpty { shutdown() }
        reportDrain()
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

    /// Counts what waits as held for the peer.
    private func countPending() {
        guard state != .closed else { return }
        if !charge.isBound { charge = handler?.memory(for: self) ?? MemoryCharge() }
        charge.set(to: pendingBytes)
    }

    /// Whether there is room for `bytes` more to wait for the peer; if so they are counted until the turn's end, when it is known.
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
        } else if outbox.isEmpty, state == .open {
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
        // libuv takes a mutable pointer and only reads from it. `uv_buf_init` takes no more than 4 GiB.
        uv_buf_t(base: UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)), len: bytes.count)
    }
}
