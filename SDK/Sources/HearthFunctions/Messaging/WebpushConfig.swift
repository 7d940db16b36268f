public import HearthJSON

/// Delivery to browsers (RFC 8030).
public struct WebpushConfig: Sendable, Hashable {
    /// "TTL" in seconds, "Urgency", "Topic".
    public var headers: [String: String]
    /// Replaces the message's data as a whole.
    public var data: [String: String]
    /// The notification in a browser. Its title and text replace the common ones.
    public var notification: WebpushNotification?
    /// The page that a click opens, and a label of analytics in place of the common one.
    public var fcmOptions: WebpushFcmOptions?

    /// Every part is optional.
    public init(
        headers: [String: String] = [:], data: [String: String] = [:], notification: WebpushNotification? = nil,
        fcmOptions: WebpushFcmOptions? = nil
    ) {
        self.headers = headers
        self.data = data
        self.notification = notification
        self.fcmOptions = fcmOptions
    }

    var wire: WireObject {
        var object = WireObject()
        object.set("headers", headers)
        object.set("data", data)
        object.set("notification", notification?.wire)
        object.set("fcm_options", fcmOptions?.wire)
        return object
    }
}

/// A notification in a browser: the options of the Notification API.
public struct WebpushNotification: Sendable, Hashable {
    /// The direction of the text.
    public enum Direction: String, Sendable, Hashable {
        /// Decided by the browser from the text.
        case auto
        case leftToRight = "ltr"
        case rightToLeft = "rtl"
    }

    /// A button.
    public struct Action: Sendable, Hashable {
        /// The name of the action in the click's event.
        public var action: String
        /// Its title.
        public var title: String
        /// The URL of a picture.
        public var icon: String?

        /// A button that is called `action` and shows `title`.
        public init(action: String, title: String, icon: String? = nil) {
            self.action = action
            self.title = title
            self.icon = icon
        }
    }

    /// The title.
    public var title: String?
    /// Its text.
    public var body: String?
    /// The URL of a picture.
    public var icon: String?
    /// The URL of a small picture in one colour.
    public var badge: String?
    /// The URL of a large picture.
    public var image: String?
    /// The language of its texts, such as "de-CH".
    public var language: String?
    /// A newer notification with the same tag replaces this one.
    public var tag: String?
    /// The direction of the text.
    public var direction: Direction?
    /// Neither sounds nor vibrates.
    public var silent: Bool?
    /// Sounds again when it replaces an older one.
    public var renotify: Bool?
    /// Stays until the user acts on it.
    public var requireInteraction: Bool?
    /// Milliseconds since 1970.
    public var timestampMilliseconds: Int?
    /// Times of vibrating and pausing in turns, in milliseconds.
    public var vibrate: [Int] = []
    /// The buttons. A browser shows those that it has room for.
    public var actions: [Action] = []
    /// The notification's `data` for the page's code.
    public var data: JSONValue?
    /// Options without a property here. A property overrides an option of its name.
    public var custom: [String: JSONValue] = [:]

    /// The most used of its options; the others are set afterwards.
    public init(
        title: String? = nil, body: String? = nil, icon: String? = nil, image: String? = nil, tag: String? = nil,
        custom: [String: JSONValue] = [:]
    ) {
        self.title = title
        self.body = body
        self.icon = icon
        self.image = image
        self.tag = tag
        self.custom = custom
    }

    var wire: WireObject {
        var object = WireObject()
        for (name, value) in custom.sorted(by: { $0.key < $1.key }) { object.set(name, json: value) }
        let texts: [(String, String?)] = [
            ("title", title), ("body", body), ("icon", icon), ("badge", badge), ("image", image), ("lang", language), ("tag", tag),
            ("dir", direction?.rawValue),
        ]
        for (name, text) in texts { object.set(name, text) }
        let flags: [(String, Bool?)] = [("silent", silent), ("renotify", renotify), ("requireInteraction", requireInteraction)]
        for (name, flag) in flags { object.set(name, flag) }
        object.set("timestamp", timestampMilliseconds)
        if !vibrate.isEmpty { object.set("vibrate", json: .array(vibrate.map { .int(Int64($0)) })) }
        if !actions.isEmpty { object.set("actions", json: .array(actions.map(\.wire.json))) }
        object.set("data", json: data)
        return object
    }
}

extension WebpushNotification.Action {
    var wire: WireObject {
        var object = WireObject()
        object.set("action", action)
        object.set("title", title)
        object.set("icon", icon)
        return object
    }
}

/// The effect of a click on a browser's notification.
public struct WebpushFcmOptions: Sendable, Hashable {
    /// An https URL that is opened.
    public var link: String?
    /// 1 to 50 letters, digits and `-_.~%`.
    public var analyticsLabel: String?

    /// Every part is optional.
    public init(link: String? = nil, analyticsLabel: String? = nil) {
        self.link = link
        self.analyticsLabel = analyticsLabel
    }

    var wire: WireObject {
        var object = WireObject()
        object.set("link", link)
        object.set("analytics_label", analyticsLabel)
        return object
    }
}
