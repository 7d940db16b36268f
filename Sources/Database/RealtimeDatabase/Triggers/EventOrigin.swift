/// Who wrote what raised an event (spec functions 8.5).
public struct EventOrigin: Sendable, Hashable {
    /// What the writer was known as.
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// A user whose token was verified.
        case user
        /// An administrator, or a function that acts as one.
        case admin
        /// Nobody who showed a token.
        case unauthenticated
        /// Not known.
        case unknown

        /// As events spell it.
        public var text: String {
            switch self {
            case .user: "app_user"
            case .admin: "admin"
            case .unauthenticated: "unauthenticated"
            case .unknown: "unknown"
            }
        }
    }

    /// What the writer was known as.
    public var kind: Kind
    /// The user's id, or the administrator's account, where there is one.
    public var id: String?

    /// - Parameter id: the user's id, or the administrator's account.
    public init(_ kind: Kind, id: String? = nil) {
        self.kind = kind
        self.id = id
    }

    /// An administrator without a name.
    public static let admin = EventOrigin(.admin)
    /// Nobody who showed a token.
    public static let unauthenticated = EventOrigin(.unauthenticated)
}
