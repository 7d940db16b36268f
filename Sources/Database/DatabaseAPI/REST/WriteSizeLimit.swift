/// The estimated time that one write may occupy the namespace, checked before it begins (spec database 2.3).
enum WriteSizeLimit: String, Sendable {
    case tiny, small, medium, large, unlimited

    /// The limit with this name, as in `writeSizeLimit` and `/.settings/defaultWriteSizeLimit.json`.
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

    /// The leaves and bytes that a slow disk can store in a second. Deletion takes constant time.
    private static let leavesPerSecond = 100_000
    private static let bytesPerSecond = 16 * 1024 * 1024

    /// The limit if neither the request nor the namespace has one.
    static let standard = WriteSizeLimit.large
    /// The name of the namespace's setting.
    static let settingName = "defaultWriteSizeLimit"

    /// Whether a write of this size is within the limit.
    func allows(leaves: Int, bytes: Int) -> Bool {
        guard let seconds else { return true }
        return leaves / Self.leavesPerSecond + bytes / Self.bytesPerSecond < seconds
    }
}
