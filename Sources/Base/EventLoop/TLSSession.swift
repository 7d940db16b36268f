import HearthBytes
import COpenSSL
import Glibc

/// One TLS connection without a socket: ciphertext and plaintext go in and come out as bytes.
///
/// The stream passes what it reads to `receive`, sends the output of `takeHandshakeOutput` after each such call, and passes writes through
/// `send`. Plaintext that is given before the end of the handshake waits in the session. No other bytes are kept between calls, so an idle
/// session holds only OpenSSL's state.
final class TLSSession {
    private let handle: OpaquePointer
    private let wire: UnsafeMutablePointer<TLSWire>
    private var waiting = ByteBuffer()

    /// Whether the peer has sent its close_notify: no more plaintext will come.
    private(set) var isPeerClosed = false

    /// Whether any byte has arrived from the peer.
    private(set) var hasReceived = false

    private var isClosed = false

    /// - Parameter server: false creates a client, for tests.
    init(context: TLSContext, server: Bool = true) throws(TLSError) {
        guard let handle = SSL_new(context.handle), let bio = BIO_new(TLSWire.method) else {
            throw TLSError(.library, "a TLS connection could not be set up: \(TLSError.reasonFromQueue())")
        }
        wire = .allocate(capacity: 1)
        wire.initialize(to: TLSWire())
        self.handle = handle
        BIO_set_data(bio, wire)
        BIO_set_init(bio, 1)
        SSL_set_bio(handle, bio, bio)
        if server { SSL_set_accept_state(handle) } else { SSL_set_connect_state(handle) }
    }

    deinit {
        SSL_free(handle)
        wire.deinitialize(count: 1)
        wire.deallocate()
    }

    /// Whether the handshake is complete.
    var isHandshaken: Bool { SSL_is_init_finished(handle) == 1 }

    /// Whether the peers have agreed on HTTP/2 (RFC 9113 section 3.2).
    var hasAgreedOnHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(handle, &name, &length)
        return length == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
    }

    /// Whether `takeHandshakeOutput` has output.
    var hasHandshakeOutput: Bool { !wire.pointee.output.isEmpty }

    /// Decrypts bytes from the peer and appends the result to `plaintext`.
    ///
    /// Call `takeHandshakeOutput` afterwards, also when this throws: it then holds the alert for the peer.
    func receive(_ ciphertext: Span<UInt8>, plaintext: inout ByteBuffer) throws(TLSError) {
        hasReceived = true
        try ciphertext.withUnsafeBufferPointer { (bytes) throws(TLSError) in
            wire.pointee.input = bytes.baseAddress
            wire.pointee.inputCount = bytes.count
            defer {
                wire.pointee.input = nil
                wire.pointee.inputCount = 0
            }
            try readAll(into: &plaintext)
        }
        if !waiting.isEmpty, isHandshaken { try flushWaiting() }
    }

    /// Encrypts `plaintext` and appends it to `ciphertext`. Before the end of the handshake it is kept and sent later.
    func send(_ plaintext: Span<UInt8>, ciphertext: inout ByteBuffer) throws(TLSError) {
        guard !isClosed else { return }
        guard isHandshaken, waiting.isEmpty else {
            waiting.append(plaintext)
            return
        }
        takeHandshakeOutput(into: &ciphertext)
        swap(&wire.pointee.output, &ciphertext)
        defer { swap(&wire.pointee.output, &ciphertext) }
        try plaintext.withUnsafeBufferPointer { (bytes) throws(TLSError) in
            try seal(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Encrypts and appends the contents of `plaintext`, and empties it.
    func send(_ plaintext: inout ByteBuffer, ciphertext: inout ByteBuffer) throws(TLSError) {
        try send(plaintext.bytes, ciphertext: &ciphertext)
        plaintext.clear()
    }

    /// Moves output of the protocol itself to `ciphertext`: handshake messages, tickets, alerts.
    func takeHandshakeOutput(into ciphertext: inout ByteBuffer) {
        guard !wire.pointee.output.isEmpty else { return }
        ciphertext.append(wire.pointee.output.bytes)
        wire.pointee.output.clear(keepingAtMost: 0)
    }

    /// Appends the close_notify, once, so that the peer can detect truncation.
    func close(ciphertext: inout ByteBuffer) {
        if !isClosed, isHandshaken {
            ERR_clear_error()
            _ = SSL_shutdown(handle)
            ERR_clear_error()
        }
        isClosed = true
        takeHandshakeOutput(into: &ciphertext)
    }

    private func readAll(into plaintext: inout ByteBuffer) throws(TLSError) {
        while true {
            ERR_clear_error()
            var result: Int32 = 0
            plaintext.appendUninitialized(minimum: 16 * 1024) { room in
                result = SSL_read(handle, room.baseAddress, Int32(clamping: room.count))
                return max(0, Int(result))
            }
            if result > 0 { continue }
            switch SSL_get_error(handle, result) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
                return
            case SSL_ERROR_ZERO_RETURN:
                isPeerClosed = true
                return
            default:
                throw TLSError(.handshake, "the TLS peer was refused: \(TLSError.reasonFromQueue())")
            }
        }
    }

    private func flushWaiting() throws(TLSError) {
        try waiting.withUnsafeBytes { (bytes) throws(TLSError) in try seal(bytes) }
        waiting.clear(keepingAtMost: 0)
    }

    /// Writes to the wire's output. A memory BIO never needs to wait, so every result except success is a failure.
    private func seal(_ bytes: UnsafeRawBufferPointer) throws(TLSError) {
        guard let base = bytes.baseAddress else { return }
        var sent = 0
        while sent < bytes.count {
            ERR_clear_error()
            let result = SSL_write(handle, base + sent, Int32(clamping: bytes.count - sent))
            guard result > 0 else {
                throw TLSError(.library, "plaintext could not be sealed: \(TLSError.reasonFromQueue())")
            }
            sent += Int(result)
        }
    }
}

/// OpenSSL's view of the socket: a BIO that reads from borrowed bytes and writes to a buffer.
///
/// `BIO_s_mem` would copy each record twice more, and never frees the memory of its largest record.
struct TLSWire: ~Copyable {
    var input: UnsafePointer<UInt8>?
    var inputCount = 0
    var output = ByteBuffer()

    // Safe: set once by the lazy initializer of a global.
    nonisolated(unsafe) static let method: OpaquePointer? = {
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hearth")
        BIO_meth_set_read(method, readInput)
        BIO_meth_set_write(method, writeOutput)
        BIO_meth_set_ctrl(method, control)
        return method
    }()
}

private func wire(of bio: OpaquePointer?) -> UnsafeMutablePointer<TLSWire>? {
    BIO_get_data(bio)?.assumingMemoryBound(to: TLSWire.self)
}

private func readInput(
    _ bio: OpaquePointer?, _ destination: UnsafeMutablePointer<CChar>?, _ capacity: Int32
) -> Int32 {
    hearth_bio_clear_retry_flags(bio)
    guard let wire = wire(of: bio), let destination, let source = wire.pointee.input, wire.pointee.inputCount > 0 else {
        hearth_bio_set_retry_read(bio)
        return -1
    }
    let count = min(Int(capacity), wire.pointee.inputCount)
    memcpy(destination, source, count)
    wire.pointee.input = source + count
    wire.pointee.inputCount -= count
    return Int32(count)
}

private func writeOutput(_ bio: OpaquePointer?, _ source: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    hearth_bio_clear_retry_flags(bio)
    guard let wire = wire(of: bio), let source, count > 0 else { return 0 }
    wire.pointee.output.append(UnsafeRawBufferPointer(start: source, count: Int(count)))
    return count
}

private func control(
    _: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?
) -> Int {
    // Flushing, pushing and popping need no action; other requests are not supported.
    switch command {
    case BIO_CTRL_FLUSH, BIO_CTRL_PUSH, BIO_CTRL_POP: 1
    default: 0
    }
}
