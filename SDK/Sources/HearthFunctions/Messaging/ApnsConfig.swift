public import HearthJSON

/// Delivery to Apple devices.
public struct ApnsConfig: Sendable, Hashable {
    /// "apns-priority", "apns-expiration", "apns-collapse-id", "apns-push-type", ...
    public var headers: [String: String]
    /// The payload. Its `aps` needs an alert, a badge, a sound or `contentAvailable`, unless the message has a notification.
    public var payload: ApnsPayload?
    /// A picture and a label of analytics that replace the common ones.
    public var fcmOptions: ApnsFcmOptions?
    /// The token of a Live Activity; the payload's `aps` needs an "event" then.
    public var liveActivityToken: String?

    /// Every part is optional.
    public init(
        headers: [String: String] = [:], payload: ApnsPayload? = nil, fcmOptions: ApnsFcmOptions? = nil, liveActivityToken: String? = nil
    ) {
        self.headers = headers
        self.payload = payload
        self.fcmOptions = fcmOptions
        self.liveActivityToken = liveActivityToken
    }

    var wire: WireObject {
        var object = WireObject()
        object.set("headers", headers)
        object.set("payload", payload?.wire)
        object.set("fcm_options", fcmOptions?.wire)
        object.set("live_activity_token", liveActivityToken)
        return object
    }
}

/// The payload for an Apple device.
public struct ApnsPayload: Sendable, Hashable {
    /// The part for the system.
    public var aps: Aps
    /// Members beside `aps`.
    public var custom: [String: JSONValue]

    /// A payload with `aps` and members beside it.
    public init(aps: Aps, custom: [String: JSONValue] = [:]) {
        self.aps = aps
        self.custom = custom
    }

    var wire: WireObject {
        var object = WireObject()
        for (name, value) in custom.sorted(by: { $0.key < $1.key }) { object.set(name, json: value) }
        // The service expects the object even if nothing in it is set.
        object.set("aps", json: aps.wire.json)
        return object
    }
}

/// The part of a payload that Apple's systems act on.
public struct Aps: Sendable, Hashable {
    /// The alert to show.
    public enum Alert: Sendable, Hashable {
        /// A text without a title.
        case text(String)
        /// A title, a text and the other parts of an alert.
        case parts(ApsAlert)
    }

    /// The sound to play.
    public enum Sound: Sendable, Hashable {
        /// "default", or a file of the app.
        case named(String)
        /// A sound that plays even if the device is muted.
        case critical(CriticalSound)
    }

    /// The alert to show.
    public var alert: Alert?
    /// The number on the app's icon; 0 takes it away.
    public var badge: Int?
    /// The sound to play.
    public var sound: Sound?
    /// Wakes the app without showing anything.
    public var contentAvailable: Bool
    /// Lets the app change the notification first.
    public var mutableContent: Bool
    /// The identifier of a category that the app has registered: the buttons beside the notification.
    public var category: String?
    /// Notifications of the same identifier are shown as one group.
    public var threadID: String?
    /// Members without a property here: "event", "interruption-level", ...
    public var custom: [String: JSONValue]

    /// Every part is optional.
    public init(
        alert: Alert? = nil, badge: Int? = nil, sound: Sound? = nil, contentAvailable: Bool = false, mutableContent: Bool = false,
        category: String? = nil, threadID: String? = nil, custom: [String: JSONValue] = [:]
    ) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
        self.contentAvailable = contentAvailable
        self.mutableContent = mutableContent
        self.category = category
        self.threadID = threadID
        self.custom = custom
    }

    var wire: WireObject {
        var object = WireObject()
        for (name, value) in custom.sorted(by: { $0.key < $1.key }) { object.set(name, json: value) }
        switch alert {
        case .text(let text)?: object.set("alert", text)
        case .parts(let alert)?: object.set("alert", alert.wire)
        case nil: break
        }
        object.set("badge", badge)
        switch sound {
        case .named(let name)?: object.set("sound", name)
        case .critical(let sound)?: object.set("sound", sound.wire)
        case nil: break
        }
        if contentAvailable { object.set("content-available", 1) }
        if mutableContent { object.set("mutable-content", 1) }
        object.set("category", category)
        object.set("thread-id", threadID)
        return object
    }
}

/// The parts of an alert.
public struct ApsAlert: Sendable, Hashable {
    /// The title.
    public var title: String?
    /// The subtitle.
    public var subtitle: String?
    /// Its text.
    public var body: String?
    /// The key of the text among the app's localised strings.
    public var locKey: String?
    /// The arguments of that text; needs ``locKey``.
    public var locArgs: [String] = []
    /// The key of the title among the app's localised strings.
    public var titleLocKey: String?
    /// The arguments of that text; needs ``titleLocKey``.
    public var titleLocArgs: [String] = []
    /// The key of the second line among the app's localised strings.
    public var subtitleLocKey: String?
    /// The arguments of that text; needs ``subtitleLocKey``.
    public var subtitleLocArgs: [String] = []
    /// The key of the view button's text among the app's localised strings.
    public var actionLocKey: String?
    /// The file of the app that is shown while the app starts from a tap.
    public var launchImage: String?

    /// The most used of its parts; the others are set afterwards.
    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
    }

    var wire: WireObject {
        var object = WireObject()
        let texts: [(String, String?)] = [
            ("title", title), ("subtitle", subtitle), ("body", body), ("loc-key", locKey), ("title-loc-key", titleLocKey),
            ("subtitle-loc-key", subtitleLocKey), ("action-loc-key", actionLocKey), ("launch-image", launchImage),
        ]
        for (name, text) in texts { object.set(name, text) }
        object.set("loc-args", locArgs)
        object.set("title-loc-args", titleLocArgs)
        object.set("subtitle-loc-args", subtitleLocArgs)
        return object
    }
}

/// A sound for emergencies.
public struct CriticalSound: Sendable, Hashable {
    /// "default", or a file of the app.
    public var name: String
    /// Whether it is heard although the device is muted.
    public var isCritical: Bool
    /// 0 to 1.
    public var volume: Double?

    /// A sound, critical unless `isCritical` is false.
    public init(name: String, isCritical: Bool = true, volume: Double? = nil) {
        self.name = name
        self.isCritical = isCritical
        self.volume = volume
    }

    var wire: WireObject {
        var object = WireObject()
        if isCritical { object.set("critical", 1) }
        object.set("name", name)
        if let volume { object.set("volume", json: .double(volume)) }
        return object
    }
}

/// Settings for Firebase's library on an Apple device.
public struct ApnsFcmOptions: Sendable, Hashable {
    /// An http or https URL of a picture.
    public var imageURL: String?
    /// 1 to 50 letters, digits and `-_.~%`.
    public var analyticsLabel: String?

    /// Every part is optional.
    public init(imageURL: String? = nil, analyticsLabel: String? = nil) {
        self.imageURL = imageURL
        self.analyticsLabel = analyticsLabel
    }

    var wire: WireObject {
        var object = WireObject()
        object.set("image", imageURL)
        object.set("analytics_label", analyticsLabel)
        return object
    }
}
