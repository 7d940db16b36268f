internal import HearthJSON

/// Delivery to Android devices.
public struct AndroidConfig: Sendable, Hashable {
    /// Whether a sleeping device is woken.
    public enum Priority: String, Sendable, Hashable {
        /// Waits while the device sleeps. The default without a notification.
        case normal = "NORMAL"
        /// Wakes a sleeping device. The default with a notification.
        case high = "HIGH"
    }

    /// Only the newest message with a key waits for a device that is off, for at most four keys.
    public var collapseKey: String?
    /// Without it: high where there is a notification, else normal.
    public var priority: Priority?
    /// How long the message may wait: from zero (now or never) to 28 days, the default.
    public var ttl: Duration?
    /// The only package that gets it.
    public var restrictedPackageName: String?
    /// Replaces the message's data as a whole.
    public var data: [String: String]
    /// The notification on Android. Its title, text and picture replace the common ones.
    public var notification: AndroidNotification?
    /// The label of analytics on Android, instead of the common one.
    public var fcmOptions: FcmOptions?
    /// Whether the app gets it in direct boot mode too, before the device has been unlocked.
    public var directBootOk: Bool?
    /// Whether it is delivered over a network of little bandwidth too.
    public var bandwidthConstrainedOk: Bool?
    /// Whether it is delivered over a restricted satellite network too.
    public var restrictedSatelliteOk: Bool?

    /// Every part is optional.
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

/// Look and sound of a notification on Android devices.
///
///     var notification = AndroidNotification(title: "New follower", color: "#7e55c3")
///     notification.channelID = "followers"
public struct AndroidNotification: Sendable, Hashable {
    /// The importance, from ``min`` to ``max``.
    public enum Priority: String, Sendable, Hashable {
        case min = "PRIORITY_MIN"
        case low = "PRIORITY_LOW"
        /// The default.
        case `default` = "PRIORITY_DEFAULT"
        case high = "PRIORITY_HIGH"
        case max = "PRIORITY_MAX"
    }

    /// Visibility on a locked screen.
    public enum Visibility: String, Sendable, Hashable {
        /// Shown without its content. The default.
        case `private` = "PRIVATE"
        /// Shown as a whole.
        case `public` = "PUBLIC"
        /// Not shown at all.
        case secret = "SECRET"
    }

    /// Whether another app may handle it in the app's place, where the device has such.
    public enum Proxy: String, Sendable, Hashable {
        case allow = "ALLOW"
        case deny = "DENY"
        /// Only if its priority was lowered on the way from high to normal. The default.
        case ifPriorityLowered = "IF_PRIORITY_LOWERED"
    }

    /// The title, instead of the common notification's.
    public var title: String?
    /// The text, instead of the common notification's.
    public var body: String?
    /// The name of the app's drawable resource; without it the icon that the app's manifest names.
    public var icon: String?
    /// The icon's colour, "#rrggbb".
    public var color: String?
    /// "default", or a file of the app's resources.
    public var sound: String?
    /// A newer notification with the same tag replaces this one.
    public var tag: String?
    /// The URL of a picture (http or https), instead of the common notification's.
    public var imageURL: String?
    /// The action of the intent that a tap starts; the app needs an activity with that filter.
    public var clickAction: String?
    /// The key of the title among the app's string resources, so that it comes in the device's language.
    public var titleLocKey: String?
    /// The arguments of that text; needs ``titleLocKey``.
    public var titleLocArgs: [String] = []
    /// The key of the text among the app's string resources.
    public var bodyLocKey: String?
    /// The arguments of that text; needs ``bodyLocKey``.
    public var bodyLocArgs: [String] = []
    /// A channel of the app (Android 8 and later). If the app has no such channel, the one in its manifest is used.
    public var channelID: String?
    /// A text for accessibility services.
    public var ticker: String?
    /// Whether it stays after a tap; false without it.
    public var sticky: Bool?
    /// The time of the event, in RFC 3339: "2026-01-31T12:00:00Z".
    public var eventTime: String?
    /// Whether it is kept from other devices of the same person, such as a watch.
    public var localOnly: Bool?
    /// The importance of the notification; ``Priority/default`` without it. The priority of delivery is ``AndroidConfig/priority``.
    public var priority: Priority?
    /// Times of waiting and vibrating in turns, the wait first; not negative.
    public var vibrateTimings: [Duration] = []
    /// Whether the device's own pattern is used; ``vibrateTimings`` are not looked at then.
    public var defaultVibrateTimings: Bool?
    /// Whether the device's own sound is heard.
    public var defaultSound: Bool?
    /// The blinking of the light, where the device has one.
    public var lightSettings: LightSettings?
    /// Whether the device's own blinking is used, unless there are ``lightSettings``.
    public var defaultLightSettings: Bool?
    /// The part that a locked screen shows; ``Visibility/private`` without it.
    public var visibility: Visibility?
    /// The number on the app's badge; not negative.
    public var notificationCount: Int?
    /// Whether another app may handle it; ``Proxy/ifPriorityLowered`` without it.
    public var proxy: Proxy?

    /// The most used of its fields; the others are set afterwards.
    public init(
        title: String? = nil, body: String? = nil, icon: String? = nil, color: String? = nil, sound: String? = nil, tag: String? = nil,
        imageURL: String? = nil, clickAction: String? = nil, channelID: String? = nil, priority: Priority? = nil
    ) {
        self.title = title
        self.body = body
        self.icon = icon
        self.color = color
        self.sound = sound
        self.tag = tag
        self.imageURL = imageURL
        self.clickAction = clickAction
        self.channelID = channelID
        self.priority = priority
    }

    var wire: WireObject {
        var object = WireObject()
        let texts: [(String, String?)] = [
            ("title", title), ("body", body), ("icon", icon), ("color", color), ("sound", sound), ("tag", tag), ("image", imageURL),
            ("click_action", clickAction), ("title_loc_key", titleLocKey), ("body_loc_key", bodyLocKey), ("channel_id", channelID),
            ("ticker", ticker), ("event_time", eventTime), ("notification_priority", priority?.rawValue),
            ("visibility", visibility?.rawValue), ("proxy", proxy?.rawValue),
        ]
        for (name, text) in texts { object.set(name, text) }
        let flags: [(String, Bool?)] = [
            ("sticky", sticky), ("local_only", localOnly), ("default_vibrate_timings", defaultVibrateTimings),
            ("default_sound", defaultSound), ("default_light_settings", defaultLightSettings),
        ]
        for (name, flag) in flags { object.set(name, flag) }
        object.set("title_loc_args", titleLocArgs)
        object.set("body_loc_args", bodyLocArgs)
        object.set("vibrate_timings", vibrateTimings.map(\.wire))
        object.set("light_settings", lightSettings?.wire)
        object.set("notification_count", notificationCount)
        return object
    }
}

/// The blinking of the device's light.
public struct LightSettings: Sendable, Hashable {
    /// "#rrggbb" or "#rrggbbaa".
    public var color: String
    /// The time of a flash; not negative.
    public var lightOnDuration: Duration
    /// The time between flashes; not negative.
    public var lightOffDuration: Duration

    /// All three are needed.
    public init(color: String, lightOnDuration: Duration, lightOffDuration: Duration) {
        self.color = color
        self.lightOnDuration = lightOnDuration
        self.lightOffDuration = lightOffDuration
    }

    var wire: WireObject {
        var object = WireObject()
        object.set("color", json: colorParts)
        object.set("light_on_duration", lightOnDuration)
        object.set("light_off_duration", lightOffDuration)
        return object
    }

    /// The colour as shares of red, green, blue and opacity. An invalid colour is passed on unchanged, so that the host reports it.
    private var colorParts: JSONValue {
        let digits = Array(color.utf8.dropFirst())
        guard color.utf8.first == UInt8(ascii: "#"), [6, 8].contains(digits.count), let bits = UInt32(color.dropFirst(), radix: 16) else {
            return .string(color)
        }
        let rgba = digits.count == 8 ? bits : bits << 8 | 0xFF
        func share(_ shift: UInt32) -> JSONValue { .double(Double(rgba >> shift & 0xFF) / 255) }
        return ["red": share(24), "green": share(16), "blue": share(8), "alpha": share(0)]
    }
}
