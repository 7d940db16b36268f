import COpenSSL
import Glibc

/// An error of a certificate, a key or a TLS peer: one sentence, which names the file if there is one.
public struct TLSError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors that callers distinguish.
    public enum Kind: Sendable, Equatable {
        /// The file cannot be opened or read.
        case unreadable
        /// The file holds no certificate or private key in PEM form.
        case notPEM
        /// The private key is protected by a passphrase.
        case keyEncrypted
        /// The private key belongs to another certificate.
        case keyMismatch
        /// The peer broke the protocol or offers nothing acceptable.
        case handshake
        /// OpenSSL failed, for example for lack of memory.
        case library
    }

    /// The kind of the error.
    public let kind: Kind
    /// One sentence for a person.
    public let message: String

    /// The same as `message`.
    public var description: String { message }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Returns the newest error of OpenSSL's queue of this thread, and empties the queue.
    static func reasonFromQueue() -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard code != 0, let text = ERR_reason_error_string(code) else { return "unknown reason" }
        return String(cString: text)
    }
}

/// The TLS configuration of a server: a certificate chain and its private key, read from PEM files.
///
/// Versions 1.2 and 1.3 with forward-secret AEAD ciphers, ALPN `http/1.1` and, if wanted, `h2`, session tickets, no renegotiation, no compression.
/// The server name that clients request (SNI) is ignored: there is one certificate. One context may serve all loops.
public final class TLSContext: @unchecked Sendable {
    // Unchecked: OpenSSL's context does not change once it is made, and OpenSSL counts its users.

    /// File of the certificate chain, the server's own certificate first.
    public let certificateFile: String
    /// File of the private key.
    public let keyFile: String
    let handle: OpaquePointer

    /// Reads both files. Blocks.
    ///
    /// - Parameter offersHTTP2: whether clients that offer HTTP/2 get it.
    /// - Throws: `TLSError` naming the file that is unreadable, is not PEM, is encrypted, or does not match.
    public init(certificateFile: String, keyFile: String, offersHTTP2: Bool = false) throws(TLSError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.handle = try Self.load(certificateFile: certificateFile, keyFile: keyFile, offersHTTP2)
    }

    deinit { SSL_CTX_free(handle) }

    /// The time in which the server's certificate is valid, in seconds since 1970; nil if OpenSSL cannot tell.
    public var validity: ClosedRange<Int>? {
        guard let certificate = SSL_CTX_get0_certificate(handle), let first = Self.seconds(X509_get0_notBefore(certificate)),
            let last = Self.seconds(X509_get0_notAfter(certificate)), first <= last
        else { return nil }
        return first...last
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return timegm(&parts)
    }

    private static func load(certificateFile: String, keyFile: String, _ offersHTTP2: Bool) throws(TLSError) -> OpaquePointer {
        try requireReadable(certificateFile, as: "certificate")
        try requireReadable(keyFile, as: "private key")
        guard let context = SSL_CTX_new(TLS_method()) else {
            throw TLSError(.library, "TLS could not be set up: \(TLSError.reasonFromQueue())")
        }
        do throws(TLSError) {
            try harden(context)
            if offersHTTP2 {
                SSL_CTX_set_alpn_select_cb(context, selectNewestProtocol, nil)
            } else {
                SSL_CTX_set_alpn_select_cb(context, selectOldProtocol, nil)
            }
            try use(certificateFile, keyFile, in: context)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        return context
    }

    private static func requireReadable(_ file: String, as role: String) throws(TLSError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw TLSError(.unreadable, "\(file): the \(role) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        guard read(descriptor, &byte, 1) >= 0 else {
            throw TLSError(.unreadable, "\(file): the \(role) cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    private static func harden(_ context: OpaquePointer) throws(TLSError) {
        hearth_ssl_ctx_harden(context)
        // Idle connections free their record buffers; partial writes queue one record at a time.
        hearth_ssl_ctx_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE))
        hearth_ssl_ctx_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        // Without this OpenSSL would ask for a passphrase on the terminal.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, wasAsked in
            wasAsked?.assumingMemoryBound(to: Bool.self).pointee = true
            return 0
        }
        guard hearth_ssl_ctx_set_version_range(context, TLS1_2_VERSION, TLS1_3_VERSION) == 1,
            SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL") == 1,
            SSL_CTX_set_session_id_context(context, "hearth", 6) == 1
        else { throw TLSError(.library, "TLS could not be set up: \(TLSError.reasonFromQueue())") }
    }

    private static func use(
        _ certificateFile: String, _ keyFile: String, in context: OpaquePointer
    ) throws(TLSError) {
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
            throw TLSError(
                .notPEM, "\(certificateFile): no certificate in PEM form was found (\(TLSError.reasonFromQueue()))")
        }
        var isEncrypted = false
        let code = withUnsafeMutablePointer(to: &isEncrypted) { flag in
            SSL_CTX_set_default_passwd_cb_userdata(context, flag)
            defer { SSL_CTX_set_default_passwd_cb_userdata(context, nil) }
            return SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM)
        }
        guard code == 1 else {
            throw isEncrypted
                ? TLSError(.keyEncrypted, "\(keyFile): the private key is encrypted; decrypt it first")
                : keyError(certificateFile, keyFile)
        }
        guard SSL_CTX_check_private_key(context) == 1 else {
            ERR_clear_error()
            throw TLSError(.keyMismatch, "\(keyFile): the private key does not match the certificate in \(certificateFile)")
        }
    }

    private static func keyError(_ certificateFile: String, _ keyFile: String) -> TLSError {
        let code = ERR_peek_last_error()
        let library = hearth_err_library(code)
        let reason = hearth_err_reason(code)
        let text = TLSError.reasonFromQueue()
        if library == ERR_LIB_X509, reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH {
            return TLSError(
                .keyMismatch, "\(keyFile): the private key does not match the certificate in \(certificateFile)")
        }
        return TLSError(.notPEM, "\(keyFile): no private key in PEM form was found (\(text))")
    }
}

/// Selects `h2` if the client offers it, otherwise `http/1.1`.
private func selectNewestProtocol(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenLength: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_NOACK }
    let bytes = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
    let isFound = select("h2", bytes, chosen, chosenLength) || select("http/1.1", bytes, chosen, chosenLength)
    return isFound ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Selects `http/1.1` if the client offers it.
private func selectOldProtocol(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenLength: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_NOACK }
    let isFound = select("http/1.1", UnsafeBufferPointer(start: offered, count: Int(offeredLength)), chosen, chosenLength)
    return isFound ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Selects `wanted` if it is offered. A client that offers only other protocols is refused (RFC 7301 section 3.2).
private func select(
    _ wanted: StaticString, _ offered: UnsafeBufferPointer<UInt8>, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
    _ chosenLength: UnsafeMutablePointer<UInt8>
) -> Bool {
    guard let base = offered.baseAddress else { return false }
    var index = 0
    while index < offered.count {
        let length = Int(offered[index])
        guard index + 1 + length <= offered.count else { break }
        if length == wanted.utf8CodeUnitCount, memcmp(base + index + 1, wanted.utf8Start, length) == 0 {
            chosen.pointee = base + index + 1
            chosenLength.pointee = UInt8(length)
            return true
        }
        index += 1 + length
    }
    return false
}
