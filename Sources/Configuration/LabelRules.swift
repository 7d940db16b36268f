/// What labels may be called beyond the pattern that the schema gives.
enum LabelRules {
    static let countMax = 58

    /// The prefix that makes a key one of the host's own, or nil.
    static func reservedPrefix(of key: String) -> String? {
        ["deployment", "firebase"].first(where: key.hasPrefix)
    }
}
