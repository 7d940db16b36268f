/// What the embedded back end puts up with, and how long it keeps things (spec messaging 6).
public struct EmbeddedSettings: Sendable {
    /// The most messages without a collapse key that wait for a device; one more discards all.
    public var pendingMax = 100
    /// The most collapse keys of which a message waits for a device.
    public var collapseKeysMax = 4
    /// Whether messages that show something on Android replace each other.
    public var collapsesNotifications = true
    /// Whether a send finds out at once that an application was uninstalled, and not only the second one.
    public var findsUninstalledAtOnce = false
    /// A device that was not heard of for so long gets nothing kept; 0 for never.
    public var inactiveAfterDays = 30
    /// A registration ends that was not heard of for so long.
    public var tokenExpiryDays = 270
    /// The most topics of a device.
    public var topicsPerDeviceMax = 2000
    /// How many messages a device may have on its way that it has not acknowledged.
    public var unacknowledgedMax = 200
    /// How long outcomes are kept once nobody waits for a message any more, in seconds.
    public var historySeconds = 86_400
    /// The most devices.
    public var devicesMax = 1_000_000
    /// The most devices that anybody has registered and that have not come back since, nor were named by a sender; the oldest go for new ones.
    public var newDevicesMax = 100_000
    /// The most connected devices; one more is answered 503.
    public var connectionsMax = 10_000
    /// How often things may happen.
    public var quotas = Quotas()

    /// Rates beyond which sends are refused; 0 for no limit.
    public struct Quotas: Sendable {
        /// Sends of one project.
        public var projectPerMinute = 0
        /// Messages for one device.
        public var devicePerMinute = 0
        /// Messages for one device.
        public var devicePerHour = 0
        /// Subscriptions of one project that are changed.
        public var subscriptionsPerSecond = 0
        /// Messages to topics and conditions that are being distributed at one time.
        public var fanOuts = 1000
        /// Calls that anybody may make: of devices that register, renew, or change their topics.
        public var anonymousPerMinute = 30_000
        /// Those of one address.
        public var anonymousPerAddressPerMinute = 300

        /// No limits, but for fan-outs and for callers whom nobody knows.
        public init() {}
    }

    /// The defaults.
    public init() {}
}

/// A project whose devices register here.
public struct MessagingProject: Sendable, Hashable {
    /// What URLs call it.
    public var id: String
    /// Decimal digits; what devices know the sender by.
    public var number: String

    /// A project; the number is not checked.
    public init(id: String, number: String) {
        self.id = id
        self.number = number
    }

    /// A number for a project whose own is not known: twelve digits that only depend on the id.
    public static func number(for id: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "\(100_000_000_000 + hash % 900_000_000_000)"
    }
}
