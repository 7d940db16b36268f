/// For how long one write may keep the namespace busy, as an estimate made before it begins (spec database 2.3).
enum WriteSizeLimit: String, Sendable {
    case tiny, small, medium, large, unlimited

    /// The limit of this name, as `writeSizeLimit` and `/.settings/defaultWriteSizeLimit.json` have it.
    init(named name: String) throws(RESTError) {
        guard let limit = WriteSizeLimit(rawValue: name) else {
            throw RESTError.badRequest("writeSizeLimit must be one of tiny, small, medium, large, unlimited")
        }
        self = limit
    }

    private var seconds: Int? {
        switch self {
        case .tiny: 1
        case .small: 10
        case .medium: 30
        case .large: 60
        case .unlimited: nil
        }
    }

    /// What a slow disk still takes in a second: leaves, and bytes of them. What is deleted costs nothing that grows with it.
    private static let leavesPerSecond = 100_000
    private static let bytesPerSecond = 16 * 1024 * 1024

    /// The limit where neither the request nor the namespace has one.
    static let standard = WriteSizeLimit.large
    /// The setting of a namespace that has its own.
    static let settingName = "defaultWriteSizeLimit"

    /// Whether writing this much stays within the limit.
    func allows(leaves: Int, bytes: Int) -> Bool {
        guard let seconds else { return true }
        return leaves / Self.leavesPerSecond + bytes / Self.bytesPerSecond < seconds
    }
}
