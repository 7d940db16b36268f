import Crypto
import CryptoExtras
import Files
import HostCore

/// The public key of a service account.
final class PublicKeyFile: Sendable {
    private let key: _RSA.Signing.PublicKey

    init(_ file: String) throws(HostStartError) {
        do throws(FileFailure) {
            let text = String(decoding: try WholeFile.read(file, sizeBytesMax: 1 << 16), as: UTF8.self)
            guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: text) else { throw FileFailure("read as an RSA public key in PEM", code: 0) }
            self.key = key
        } catch {
            throw HostStartError("\(file) \(error)")
        }
    }

    func isSignature(_ signature: [UInt8], _ signed: [UInt8]) -> Bool {
        key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
    }
}
