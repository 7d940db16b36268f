/// Text forms of memory sizes.
enum MemoryAmount {
    static let mebibyte = 1024 * 1024
    static let bytesMin = 16 * mebibyte
    static let bytesMax = 32 * 1024 * mebibyte

    /// Parses `256MiB` or `1GiB`; the first generation's `MB` and `GB` mean the same sizes. Nil for other text.
    static func bytes(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), digits.count <= 6 else { return nil }
        switch text.dropFirst(digits.count) {
        case "MiB", "MB": return count * mebibyte
        case "GiB", "GB": return count * 1024 * mebibyte
        default: return nil
        }
    }

    /// The text with the largest unit that needs no fraction.
    static func text(_ bytes: Int) -> String {
        let mebibytes = bytes / mebibyte
        return mebibytes % 1024 == 0 && mebibytes > 0 ? "\(mebibytes / 1024)GiB" : "\(mebibytes)MiB"
    }
}
