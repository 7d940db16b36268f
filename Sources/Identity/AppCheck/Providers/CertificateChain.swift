import COpenSSL

/// A chain of X.509 certificates that ends at a pinned root.
enum CertificateChain {
    /// The parts of the first certificate that an attestation is checked with.
    struct Leaf: Equatable {
        /// The public key: an uncompressed point (X9.62).
        var publicKey: [UInt8]
        /// The value of the asked extension.
        var attribute: [UInt8]
    }

    private static let certificateBytesMax = 16 * 1024
    private static let lengthMax = 4

    /// Verifies that `certificates`, of which the first is the leaf, lead to the root, and returns the leaf's content.
    ///
    /// - Parameters:
    ///   - root: in PEM.
    ///   - attribute: the object identifier of an extension that the leaf must have.
    /// - Returns: nil if anything is wrong.
    static func leaf(_ certificates: [[UInt8]], root: String, attribute: String) -> Leaf? {
        guard (1...lengthMax).contains(certificates.count), certificates.allSatisfy({ $0.count <= certificateBytesMax }) else { return nil }
        let parsed = certificates.compactMap { parse($0) }
        defer { parsed.forEach { X509_free($0) } }
        guard parsed.count == certificates.count, let anchor = parse(pem: root) else { return nil }
        defer { X509_free(anchor) }
        guard isTrusted(parsed, anchor) else { return nil }
        guard let key = publicKey(parsed[0]), let value = value(of: attribute, in: parsed[0]) else { return nil }
        return Leaf(publicKey: key, attribute: value)
    }

    /// Whether the text is a certificate in PEM.
    static func isCertificate(_ pem: String) -> Bool {
        guard let certificate = parse(pem: pem) else { return false }
        X509_free(certificate)
        return true
    }

    private static func parse(_ bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return nil }
            var position: UnsafePointer<UInt8>? = start
            guard let certificate = d2i_X509(nil, &position, buffer.count) else { return nil }
            // Bytes behind the certificate would not be signed by anyone.
            guard position == start + buffer.count else {
                X509_free(certificate)
                return nil
            }
            return certificate
        }
    }

    private static func parse(pem: String) -> OpaquePointer? {
        let text = Array(pem.utf8)
        guard let memory = BIO_new_mem_buf(text, Int32(text.count)) else { return nil }
        defer { BIO_free(memory) }
        return PEM_read_bio_X509(memory, nil, nil, nil)
    }

    private static func isTrusted(_ chain: [OpaquePointer], _ anchor: OpaquePointer) -> Bool {
        guard let store = X509_STORE_new(), let context = X509_STORE_CTX_new(), let others = OPENSSL_sk_new_null() else { return false }
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
            OPENSSL_sk_free(others)
        }
        X509_STORE_add_cert(store, anchor)
        for certificate in chain.dropFirst() { OPENSSL_sk_push(others, UnsafeRawPointer(certificate)) }
        guard X509_STORE_CTX_init(context, store, chain[0], others) == 1 else { return false }
        defer { ERR_clear_error() }
        return X509_verify_cert(context) == 1
    }

    private static func publicKey(_ certificate: OpaquePointer) -> [UInt8]? {
        guard let bits = X509_get0_pubkey_bitstr(certificate) else { return nil }
        return content(UnsafePointer(bits))
    }

    private static func value(of attribute: String, in certificate: OpaquePointer) -> [UInt8]? {
        guard let name = OBJ_txt2obj(attribute, 1) else { return nil }
        defer { ASN1_OBJECT_free(name) }
        let index = X509_get_ext_by_OBJ(certificate, name, -1)
        guard index >= 0, let data = X509_EXTENSION_get_data(X509_get_ext(certificate, index)) else { return nil }
        return content(UnsafePointer(data))
    }

    private static func content(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }
}
