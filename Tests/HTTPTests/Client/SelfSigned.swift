import COpenSSL
import Glibc
import Testing

/// A key and a certificate for `localhost` that it signed itself, in files that go with the value.
final class SelfSigned: Sendable {
    let certificateFile: String
    let keyFile: String
    private let folder: String

    init() throws {
        var name = Array("/tmp/hearth-tls-XXXXXX".utf8CString)
        try #require(mkdtemp(&name) != nil)
        folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        certificateFile = folder + "/certificate.pem"
        keyFile = folder + "/key.pem"
        let key = try Self.makeKey()
        defer { EVP_PKEY_free(key) }
        let certificate = try Self.makeCertificate(key)
        defer { X509_free(certificate) }
        try Self.write(keyFile) { PEM_write_PrivateKey($0, key, nil, nil, 0, nil, nil) }
        try Self.write(certificateFile) { PEM_write_X509($0, certificate) }
    }

    deinit {
        unlink(certificateFile)
        unlink(keyFile)
        rmdir(folder)
    }

    private static func makeKey() throws -> OpaquePointer {
        let context = try #require(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil))
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        try #require(EVP_PKEY_keygen_init(context) == 1)
        try #require(EVP_PKEY_generate(context, &key) == 1)
        return try #require(key)
    }

    private static func makeCertificate(_ key: OpaquePointer) throws -> OpaquePointer {
        let certificate = try #require(X509_new())
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 3600)
        X509_set_pubkey(certificate, key)
        let name = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(name, "CN", 0x1001, "localhost", -1, -1, 0)
        X509_set_issuer_name(certificate, name)
        try #require(X509_sign(certificate, key, EVP_sha256()) != 0)
        return certificate
    }

    private static func write(_ path: String, _ body: (UnsafeMutablePointer<FILE>) -> Int32) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        try #require(body(file) == 1)
    }
}
