import COpenSSL
import Glibc

/// TLS on a blocking socket, as a client. Trusts the machine's certificates (or `SSL_CERT_FILE`) and one more file.
final class TLSClientSession {
    private let context: OpaquePointer
    private let handle: OpaquePointer

    /// Performs the handshake.
    ///
    /// - Throws: `ClientFailure` of kind `tls`.
    init(descriptor: Int32, url: HostURL, authorityFile: String?) throws(ClientFailure) {
        // Writing to a closed connection must return an error; OpenSSL has no option for that.
        signal(SIGPIPE, SIG_IGN)
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw ClientFailure(.tls, "OpenSSL has no memory for a connection") }
        guard hearth_ssl_ctx_set_version_range(context, TLS1_2_VERSION, TLS1_3_VERSION) == 1,
            SSL_CTX_set_default_verify_paths(context) == 1, let handle = SSL_new(context)
        else {
            SSL_CTX_free(context)
            throw ClientFailure(.tls, "OpenSSL cannot be set up")
        }
        self.context = context
        self.handle = handle
        if let authorityFile, access(authorityFile, R_OK) != 0 {
            let reason = String(cString: strerror(errno)).lowercased()
            throw ClientFailure(.tls, "\(authorityFile) cannot be read: \(reason); name the file of the host's authority with --ca-file")
        }
        if let authorityFile, SSL_CTX_load_verify_locations(context, authorityFile, nil) != 1 {
            throw ClientFailure(.tls, "\(authorityFile) cannot be read as certificates in PEM; name the file of the host's authority with --ca-file")
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_set_verify(handle, SSL_VERIFY_PEER, nil)
        SSL_set_fd(handle, descriptor)
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), url.host) != 1 {
            SSL_set1_host(handle, url.host)
            url.host.withCString { name in
                _ = SSL_ctrl(handle, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: name))
            }
        }
        ERR_clear_error()
        guard SSL_connect(handle) == 1 else { throw Self.refusal(handle, url) }
    }

    deinit {
        SSL_shutdown(handle)
        SSL_free(handle)
        SSL_CTX_free(context)
    }

    private static func refusal(_ handle: OpaquePointer, _ url: HostURL) -> ClientFailure {
        let verdict = SSL_get_verify_result(handle)
        if verdict != X509_V_OK {
            let reason = String(cString: X509_verify_cert_error_string(verdict))
            return ClientFailure(
                .tls,
                "the certificate of \(url.authority) is not trusted (\(reason)); name the file of its authority with --ca-file or SSL_CERT_FILE")
        }
        let reason = ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "it does not answer in TLS"
        return ClientFailure(.tls, "\(url.authority) does not speak TLS as asked (\(reason)); check --url")
    }

    /// As `send(2)`; -1 with `errno` on failure.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        ERR_clear_error()
        let count = SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? Int(count) : failure(count)
    }

    /// As `recv(2)`; -1 with `errno` on failure.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        ERR_clear_error()
        let count = SSL_read(handle, room.baseAddress, Int32(clamping: room.count))
        return count > 0 ? Int(count) : failure(count)
    }

    /// Whether data or the end can be read. The socket must be non-blocking.
    var hasInput: Bool {
        ERR_clear_error()
        var byte: UInt8 = 0
        let count = SSL_peek(handle, &byte, 1)
        return count > 0 || SSL_get_error(handle, count) != SSL_ERROR_WANT_READ
    }

    private func failure(_ count: Int32) -> Int {
        let system = errno
        switch SSL_get_error(handle, count) {
        case SSL_ERROR_ZERO_RETURN: return 0
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: errno = EAGAIN
        case SSL_ERROR_SYSCALL where system != 0: errno = system
        default: errno = ECONNRESET
        }
        return -1
    }
}
