internal import JSON

/// How a notification looks and sounds on Android devices.
///
///     var notification = AndroidNotification(title: "New follower", color: "#7e55c3")
///     notification.channelID = "followers"
public struct AndroidNotification: Sendable, Hashable {
    /// How important it is.
    public enum Priority: String, Sendable, Hashable {
        case min = "PRIORITY_MIN"
        case low = "PRIORITY_LOW"
        case `default` = "PRIORITY_DEFAULT"
        case high = "PRIORITY_HIGH"
        case max = "PRIORITY_MAX"
    }

    /// Who sees it on a locked screen.
    public enum Visibility: String, Sendable, Hashable {
        case `private` = "PRIVATE"
        case `public` = "PUBLIC"
        case secret = "SECRET"
    }

    /// Whether the device may show it by proxy.
    public enum Proxy: String, Sendable, Hashable {
        case allow = "ALLOW"
        case deny = "DENY"
        case ifPriorityLowered = "IF_PRIORITY_LOWERED"
    }

    /// Its first line.
    public var title: String?
    /// Its text.
    public var body: String?
    /// A picture of the app's, or its URL in a browser.
    public var icon: String?
    /// "#rrggbb".
    public var color: String?
    /// "default", or a file of the app's resources.
    public var sound: String?
    /// A newer notification with the same tag takes an older one's place.
    public var tag: String?
    public var imageURL: String?
    public var clickAction: String?
    public var titleLocKey: String?
    /// Need ``titleLocKey``.
    public var titleLocArgs: [String] = []
    public var bodyLocKey: String?
    /// Need ``bodyLocKey``.
    public var bodyLocArgs: [String] = []
    public var channelID: String?
    public var ticker: String?
    public var sticky: Bool?
    /// When it happened, in RFC 3339: "2026-01-31T12:00:00Z".
    public var eventTime: String?
    public var localOnly: Bool?
    public var priority: Priority?
    /// Waiting and vibrating in turns.
    public var vibrateTimings: [Duration] = []
    public var defaultVibrateTimings: Bool?
    public var defaultSound: Bool?
    public var lightSettings: LightSettings?
    public var defaultLightSettings: Bool?
    public var visibility: Visibility?
    /// What the app's badge counts; not negative.
    public var notificationCount: Int?
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

/// How the device's light blinks.
public struct LightSettings: Sendable, Hashable {
    /// "#rrggbb" or "#rrggbbaa".
    public var color: String
    public var lightOnDuration: Duration
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

    /// The colour as shares of red, green, blue and opacity; as it was given where it is none, for the host to say so.
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
