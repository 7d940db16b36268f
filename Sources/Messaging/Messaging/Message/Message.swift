public import HearthJSON

/// A message of the HTTP v1 API. All rules have been checked that do not depend on its receivers (spec messaging 1).
///
/// The fields are stored in the form of the wire, in snake case and without values that mean absence, and are read through the views below.
/// A back end sends them in this form to the hosted service.
public struct Message: Sendable {
    /// The receivers of a message.
    public enum Target: Sendable, Hashable {
        /// An installation id.
        case fid(String)
        /// A registration token.
        case token(String)
        case topic(TopicName)
        case condition(TopicCondition)
    }

    /// One device, topic or condition.
    public let target: Target
    /// The whole message in the form of the wire, including the target.
    public let fields: JSONObject
    /// The options for Android. Parsed once, because a message to many devices is read for each of them.
    public let android: AndroidOptions

    init(target: Target, fields: JSONObject) {
        self.target = target
        self.fields = fields
        android = AndroidOptions(fields)
    }

    /// The data for the application, without the overrides of platforms.
    public var data: JSONObject { Self.data(fields) }
    /// The notification to show, without the overrides of platforms; nil if there is none.
    public var notification: JSONObject? { Self.filled(fields["notification"]) }
    /// The options for browsers. Absent ones are those of the message.
    public var webpush: WebpushOptions { WebpushOptions(fields: fields["webpush"]?.object ?? JSONObject()) }
    /// The options for Apple's devices. Absent ones are those of the message.
    public var apns: ApnsOptions { ApnsOptions(fields: fields["apns"]?.object ?? JSONObject()) }
    /// The label for analytics, without the overrides of platforms.
    public var analyticsLabel: String? { Self.analyticsLabel(fields) }

    fileprivate static func data(_ fields: JSONObject) -> JSONObject { fields["data"]?.object ?? JSONObject() }
    fileprivate static func analyticsLabel(_ fields: JSONObject) -> String? { fields["fcm_options"]?["analytics_label"]?.string }

    /// Whether the message has a part for a platform, even an empty one.
    func hasPart(_ name: String) -> Bool { fields[name] != nil }

    static func filled(_ value: JSONValue?) -> JSONObject? {
        guard let members = value?.object, !members.isEmpty else { return nil }
        return members
    }

    /// The members of `first`, replaced or extended by those of `second`.
    static func merged(_ first: JSONObject?, _ second: JSONObject?) -> JSONObject? {
        guard let second, !second.isEmpty else { return first }
        guard var result = first else { return second }
        for (name, value) in second { result[name] = value }
        return result
    }
}

/// The options of a message for Android, in either of the two forms, combined with those of the message.
public struct AndroidOptions: Sendable {
    /// Whether a sleeping device is woken up.
    public enum Priority: UInt8, Sendable {
        case normal
        case high
    }

    /// Only the newest message with a key waits for a device.
    public let collapseKey: String?
    /// The given priority; by default high if a notification is shown.
    public let priority: Priority
    /// How long the message may wait: 0 to four weeks.
    public let ttlSeconds: Int
    /// The only package that receives it; nil for any.
    public let restrictedPackageName: String?
    /// The label for analytics, after overrides.
    public let analyticsLabel: String?
    /// The data for the application, after overrides.
    public let data: JSONObject
    /// The notification to show, after overrides; nil if there is none.
    public let notification: JSONObject?
    /// Whether the options are in the form `android_v2`, which has no priority, and collapses only if it has a key.
    public let isVersion2: Bool

    static let ttlSecondsMax = 2_419_200

    init(_ message: JSONObject) {
        let v2 = message["android_v2"]?.object
        let fields = v2 ?? message["android"]?.object ?? JSONObject()
        isVersion2 = v2 != nil
        collapseKey = fields["collapse_key"]?.string
        restrictedPackageName = fields["restricted_package_name"]?.string
        analyticsLabel = fields["fcm_options"]?["analytics_label"]?.string ?? Message.analyticsLabel(message)
        ttlSeconds = fields["ttl"]?.string.flatMap { ProtoDuration($0) }.map { Int($0.seconds) } ?? Self.ttlSecondsMax
        data = fields["data"]?.object ?? Message.data(message)
        let own = isVersion2 ? fields["remote_notification"]?["notification"]?.object : fields["notification"]?.object
        let isSync = fields["background_sync"] != nil
        notification = isSync ? nil : Message.filled(Message.merged(Message.filled(message["notification"]), own).map { .object($0) })
        if isVersion2 {
            priority = isSync ? .normal : .high
        } else if let named = fields["priority"]?.string {
            priority = named == "HIGH" ? .high : .normal
        } else {
            priority = notification == nil ? .normal : .high
        }
    }
}

/// The options of a message for browsers.
public struct WebpushOptions: Sendable {
    let fields: JSONObject

    /// The value of a header field for the push service; the name is case-insensitive.
    public func header(_ name: String) -> String? {
        fields["headers"]?.object?.first { $0.key.lowercased() == name.lowercased() }?.value.string
    }

    /// The header fields for the push service, with names as they were given.
    public var headers: JSONObject { fields["headers"]?.object ?? JSONObject() }
    /// The data that replaces all data of the message; nil for none.
    public var data: JSONObject? { fields["data"]?.object }
    /// Options that are merged over the message's notification; nil for none.
    public var notification: JSONObject? { Message.filled(fields["notification"]) }
    /// The URL to open when the notification is clicked.
    public var link: String? { fields["fcm_options"]?["link"]?.string }
    /// The label that replaces the message's.
    public var analyticsLabel: String? { fields["fcm_options"]?["analytics_label"]?.string }

    /// How long a push service stores the message: the value of the header field, at most four weeks.
    public var ttlSeconds: Int {
        guard let text = header("TTL") else { return AndroidOptions.ttlSecondsMax }
        return min(Int(text) ?? AndroidOptions.ttlSecondsMax, AndroidOptions.ttlSecondsMax)
    }
}

/// The options of a message for Apple's devices.
public struct ApnsOptions: Sendable {
    let fields: JSONObject

    /// The header fields for APNs, with names as they were given.
    public var headers: JSONObject { fields["headers"]?.object ?? JSONObject() }
    /// The payload for the device: `aps` and its siblings.
    public var payload: JSONObject? { fields["payload"]?.object }
    /// The URL of an image that replaces the notification's.
    public var image: String? { fields["fcm_options"]?["image"]?.string }
    /// The label that replaces the message's.
    public var analyticsLabel: String? { fields["fcm_options"]?["analytics_label"]?.string }
    /// The token of a Live Activity, which replaces the device's token.
    public var liveActivityToken: String? { fields["live_activity_token"]?.string }

    /// The value of a header field; `name` is in lower case.
    public func header(_ name: String) -> String? {
        headers.first { $0.key.lowercased() == name }?.value.string
    }
}
