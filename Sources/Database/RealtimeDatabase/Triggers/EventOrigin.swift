/// The writer whose write raised an event (spec functions 8.5).
public struct EventOrigin: Sendable, Hashable {
    /// The kind of writer.
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// A user with a verified token.
        case user
        /// An administrator, or a function that acts as one.
        case admin
        /// A client without a token.
        case unauthenticated
        /// Unknown.
        case unknown

        /// The name in events.
        public var text: String {
            switch self {
            case .user: "app_user"
            case .admin: "admin"
            case .unauthenticated: "unauthenticated"
            case .unknown: "unknown"
            }
        }
    }

    /// The kind of writer.
    public var kind: Kind
    /// The id of the user, or the account of the administrator, if there is one.
    public var id: String?

    /// - Parameter id: the id of the user, or the account of the administrator.
    public init(_ kind: Kind, id: String? = nil) {
        self.kind = kind
        self.id = id
    }

    /// An administrator without an account.
    public static let admin = EventOrigin(.admin)
    /// A client without a token.
    public static let unauthenticated = EventOrigin(.unauthenticated)
}
