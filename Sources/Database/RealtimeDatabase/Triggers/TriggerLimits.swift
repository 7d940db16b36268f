/// The limits of the events of a single write.
public struct TriggerLimits: Sendable {
    /// The maximum number of events.
    public var functionsMax: Int
    /// The maximum size of an event, counted as old value and changes.
    public var eventBytesMax: Int
    /// Whether a write that exceeds the limits is refused (`strictTriggerValidation`). If not, all of its events are raised, but those that are
    /// too large are without their values.
    public var isStrict: Bool

    /// The limits of the hosted service.
    public init(functionsMax: Int = 1000, eventBytesMax: Int = 1 << 20, isStrict: Bool = true) {
        self.functionsMax = functionsMax
        self.eventBytesMax = eventBytesMax
        self.isStrict = isStrict
    }
}

/// The reason why a write is refused because of its events.
public enum TriggerRefusal: Error, Sendable, Hashable {
    /// The write would raise too many events.
    case tooManyFunctions
    /// The write would raise an event that is too large.
    case eventTooLarge

    /// The message of the hosted service (spec database 2.6).
    public var message: String {
        switch self {
        case .tooManyFunctions: "This request would cause too many functions to be triggered."
        case .eventTooLarge: "Data to write exceeds the maximum size that can be modified with a single request."
        }
    }
}
