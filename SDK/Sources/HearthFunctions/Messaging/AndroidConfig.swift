/// How a message is delivered to Android devices.
public struct AndroidConfig: Sendable, Hashable {
    /// Whether a sleeping device is woken.
    public enum Priority: String, Sendable, Hashable {
        /// Waits while the device sleeps; what holds without a notification.
        case normal = "NORMAL"
        /// Wakes a sleeping device; what holds with a notification.
        case high = "HIGH"
    }

    /// Of messages with the same key only the newest waits for a device that is off; at most four keys wait.
    public var collapseKey: String?
    /// Without it: high where there is a notification, else normal.
    public var priority: Priority?
    /// How long the message may wait: from zero, which is now or never, up to 28 days, which is what holds without it.
    public var ttl: Duration?
    /// The only package that gets it.
    public var restrictedPackageName: String?
    /// Replaces the message's data as a whole.
    public var data: [String: String]
    /// How its notification looks on Android; its title, text and picture take the place of the common ones.
    public var notification: AndroidNotification?
    /// Its label of analytics on Android, in place of the common one.
    public var fcmOptions: FcmOptions?
    /// Whether the app gets it in direct boot mode too, before somebody has unlocked the device.
    public var directBootOk: Bool?
    /// Whether it is delivered over a network of little bandwidth too.
    public var bandwidthConstrainedOk: Bool?
    /// Whether it is delivered over a restricted satellite network too.
    public var restrictedSatelliteOk: Bool?

    /// Everything may be left out.
    public init(
        collapseKey: String? = nil, priority: Priority? = nil, ttl: Duration? = nil, restrictedPackageName: String? = nil,
        data: [String: String] = [:], notification: AndroidNotification? = nil, fcmOptions: FcmOptions? = nil, directBootOk: Bool? = nil,
        bandwidthConstrainedOk: Bool? = nil, restrictedSatelliteOk: Bool? = nil
    ) {
        self.collapseKey = collapseKey
        self.priority = priority
        self.ttl = ttl
        self.restrictedPackageName = restrictedPackageName
        self.data = data
        self.notification = notification
        self.fcmOptions = fcmOptions
        self.directBootOk = directBootOk
        self.bandwidthConstrainedOk = bandwidthConstrainedOk
        self.restrictedSatelliteOk = restrictedSatelliteOk
    }

    var wire: WireObject {
        var object = WireObject()
        object.set("collapse_key", collapseKey)
        object.set("priority", priority?.rawValue)
        object.set("ttl", ttl)
        object.set("restricted_package_name", restrictedPackageName)
        object.set("data", data)
        object.set("notification", notification?.wire)
        object.set("fcm_options", fcmOptions?.wire)
        object.set("direct_boot_ok", directBootOk)
        object.set("bandwidth_constrained_ok", bandwidthConstrainedOk)
        object.set("restricted_satellite_ok", restrictedSatelliteOk)
        return object
    }
}
