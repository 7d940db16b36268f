/// What labels may be called beyond the pattern that the schema gives.
enum LabelRules {
    static let countMax = 58

    /// Why a label is refused beyond what the schema says, or nil.
    static func refusal(of key: String, _ value: String) -> String? {
        if let prefix = ["deployment", "firebase"].first(where: key.hasPrefix) { return "labels that start with \(prefix.quoted) are reserved" }
        guard (key + value).unicodeScalars.allSatisfy(isAllowed) else { return "expected lower-case letters, digits, _ and - in a label" }
        return nil
    }

    /// The schema's pattern has settled what is ASCII.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return true }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .decimalNumber, .letterNumber, .otherNumber: return true
        default: return false
        }
    }
}
