import Glibc
import Synchronization

/// A verified token.
public struct VerifiedToken: Sendable, Equatable {
    /// The token as its client sent it.
    public let text: [UInt8]
    /// `sub`: the user id of an ID token, the app id of an App Check token. 1 to 128 UTF-16 code units.
    public let subject: String
    /// The payload as issued: a JSON object in UTF-8.
    public let claims: [UInt8]
    /// `exp`, in seconds since 1970.
    public let expires: Int
    /// The time from which it is refused: `exp` plus the allowed clock skew, in seconds since 1970.
    public let validUntil: Int
    /// Whether the token is unsigned. Possible in development mode only; it proves nothing.
    public let isUnsigned: Bool
    /// The number of this verification, unique in the process: a key for values that are made of the token.
    public let serial: UInt64

    private static let verifications = Atomic<UInt64>(0)

    init(text: [UInt8], subject: String, claims: [UInt8], expires: Int, validUntil: Int, isUnsigned: Bool) {
        self.text = text
        self.subject = subject
        self.claims = claims
        self.expires = expires
        self.validUntil = validUntil
        self.isUnsigned = isUnsigned
        serial = Self.verifications.add(1, ordering: .relaxed).newValue
    }
}

/// The clock of this module: whole seconds since 1970. Tests use their own.
public struct TokenClock: Sendable {
    private let read: @Sendable () -> Int

    /// A clock that calls `read`, from any thread.
    public init(_ read: @escaping @Sendable () -> Int) { self.read = read }

    /// Whole seconds since 1970.
    public func now() -> Int { read() }

    /// The machine's clock.
    public static let system = TokenClock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec
    }
}
