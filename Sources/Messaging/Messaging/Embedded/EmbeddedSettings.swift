/// The limits and times of the embedded back end (spec messaging 6).
public struct EmbeddedSettings: Sendable {
    /// The most messages without a collapse key that wait for a device. One more discards all of them.
    public var pendingMax = 100
    /// The most collapse keys with a message that waits for a device.
    public var collapseKeysMax = 4
    /// Whether notifications for Android replace each other.
    public var collapsesNotifications = true
    /// Whether the first send to an uninstalled application fails, instead of the second one.
    public var findsUninstalledAtOnce = false
    /// The number of days without contact after which messages for a device are not stored; 0 for never.
    public var inactiveAfterDays = 30
    /// The number of days without contact after which a registration ends.
    public var tokenExpiryDays = 270
    /// The most topics of a device.
    public var topicsPerDeviceMax = 2000
    /// The most messages that a device may have received and not acknowledged.
    public var unacknowledgedMax = 200
    /// How long outcomes are kept after a message has stopped waiting, in seconds.
    public var historySeconds = 86_400
    /// The most devices.
    public var devicesMax = 1_000_000
    /// The most devices that were registered anonymously, have not connected again, and were named by no sender. The oldest are deleted for new ones.
    public var newDevicesMax = 100_000
    /// The most connected devices. Further ones are answered with 503.
    public var connectionsMax = 10_000
    /// The rate limits.
    public var quotas = Quotas()

    /// Rates above which sends are refused; 0 for no limit.
    public struct Quotas: Sendable {
        /// Sends of a project.
        public var projectPerMinute = 0
        /// Messages for a device.
        public var devicePerMinute = 0
        /// Messages for a device.
        public var devicePerHour = 0
        /// Changes of subscriptions in a project.
        public var subscriptionsPerSecond = 0
        /// Messages to topics and conditions that are distributed at the same time.
        public var fanOuts = 1000
        /// Anonymous calls: of devices that register, renew their tokens, or change their topics.
        public var anonymousPerMinute = 30_000
        /// Anonymous calls from one address.
        public var anonymousPerAddressPerMinute = 300

        /// No limits, except for fan-outs and anonymous calls.
        public init() {}
    }

    /// The defaults.
    public init() {}
}
