public import HearthJSON
public import Store

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The constant settings of a store of users.
public struct AccountPolicy: Sendable {
    /// The id of the project.
    public var project: String
    /// Its number, in decimal digits.
    public var projectNumber: String
    /// `iss` of ID tokens.
    public var issuer: String
    /// Whether the production rules apply; otherwise those of the emulator.
    public var isStrict: Bool
    /// Whether codes can be read by the administrator, in an inbox.
    public var showsCodes: Bool
    /// The configuration of the project until an administrator changes it.
    public var projectDefaults = JSONObject()
    /// Failed attempts after which an account is locked for a while.
    public var failuresMax = 10
    /// The time of that lock, and of counting.
    public var windowSeconds: Int64 = 300
    /// The number of failed attempts of one client address before it is locked out for a while.
    public var failuresPerAddressMax = 100
    /// Tells apart costs of new hashes of passwords; nil if it is unknown.
    public var passwordCost: String?
    /// Bounds of what clients may cause.
    public var limits: AccountLimits
    /// Gets the seal for the secrets of second factors. Called on the writer's thread when the store is opened: a restore may have replaced both.
    public var openSeal: @Sendable () throws(StoreError) -> FactorSeal = { FactorSeal() }
    /// Milliseconds since 1970.
    public var clock: @Sendable () -> Int64 = AccountPolicy.calendar

    /// Settings with the default limits.
    public init(project: String, projectNumber: String, issuer: String, isStrict: Bool, showsCodes: Bool) {
        self.project = project
        self.projectNumber = projectNumber
        self.issuer = issuer
        self.isStrict = isStrict
        self.showsCodes = showsCodes
        limits = isStrict ? .production : AccountLimits()
    }

    /// The system's calendar clock, in milliseconds since 1970.
    @Sendable public static func calendar() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
