/// The form of registration tokens and installation ids (spec messaging 1.3).
enum RegistrationToken {
    /// Whether the text matches `^[A-Za-z0-9_-]{4,64}:[A-Za-z0-9_-]{20,4096}$`.
    static func isWellFormed(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let (name, secret) = (bytes[..<colon], bytes[(colon + 1)...])
        return (4...64).contains(name.count) && (20...4096).contains(secret.count) && name.allSatisfy(isLetter) && secret.allSatisfy(isLetter)
    }

    /// Whether the text matches `^[cdef][A-Za-z0-9_-]{21}$`.
    static func isInstallationID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 22, let first = bytes.first else { return false }
        return (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(first) && bytes.allSatisfy(isLetter)
    }

    /// Whether the byte is in the alphabet of base64url.
    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
