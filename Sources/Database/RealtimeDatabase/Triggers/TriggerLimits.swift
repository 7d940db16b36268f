/// How much a single write may set off.
public struct TriggerLimits: Sendable {
    /// The most events of one write.
    public var functionsMax: Int
    /// The largest event, counting the old value and what changed.
    public var eventBytesMax: Int
    /// Whether a write beyond these is refused (`strictTriggerValidation`). If not, all its events are raised, and those that
    /// are too large come without their values.
    public var isStrict: Bool

    /// The hosted service's limits.
    public init(functionsMax: Int = 1000, eventBytesMax: Int = 1 << 20, isStrict: Bool = true) {
        self.functionsMax = functionsMax
        self.eventBytesMax = eventBytesMax
        self.isStrict = isStrict
    }
}

/// Why a write is refused for what it would set off.
public enum TriggerRefusal: Error, Sendable, Hashable {
    /// It would raise more events than one write may.
    case tooManyFunctions
    /// It would raise an event larger than one may be.
    case eventTooLarge

    /// The hosted service's words (spec database 2.6).
    public var message: String {
        switch self {
        case .tooManyFunctions: "This request would cause too many functions to be triggered."
        case .eventTooLarge: "Data to write exceeds the maximum size that can be modified with a single request."
        }
    }
}
