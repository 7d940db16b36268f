/// The outcome of a message at a device (spec messaging 6.8).
public enum DeliveryOutcome: String, CaseIterable, Sendable {
    /// The device, or its push service, has accepted it.
    case delivered
    /// It is waiting.
    case pending
    /// A newer message has replaced it.
    case collapsedBy = "collapsed_by"
    /// It has expired.
    case expired
    /// It had to be delivered at once, and the device was not connected.
    case droppedTTL0 = "dropped_ttl0"
    /// Too many messages were waiting.
    case overflow
    /// The device had no contact for a long time.
    case inactive
    /// The application was uninstalled.
    case uninstalled
    /// The registration has ended.
    case unregistered
    /// The device's push service has refused it.
    case forwardFailed = "forward_failed"
}
