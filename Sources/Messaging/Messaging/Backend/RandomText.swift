/// Random texts.
enum RandomText {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// A random text in the alphabet of base64url.
    static func letters(_ count: Int) -> String {
        String(decoding: bytes(count).map { alphabet[Int($0 & 63)] }, as: UTF8.self)
    }

    /// A random text that matches `^[cdef][A-Za-z0-9_-]{21}$`.
    static func installationID() -> String {
        ["c", "d", "e", "f"][Int(bytes(1)[0] & 3)] + letters(21)
    }
}
