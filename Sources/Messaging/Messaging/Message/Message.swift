public import HearthJSON

/// A message of the HTTP v1 API that has passed every rule which can be checked without knowing its receivers (spec messaging 1).
///
/// The target is a type of its own; everything else is kept as the wire has it, in snake case and without what stands for absence,
/// and is read through the views below. That form is what a back end that speaks to the hosted service sends on.
public struct Message: Sendable {
    /// Whom a message is for.
    public enum Target: Sendable, Hashable {
        /// An installation id.
        case fid(String)
        /// A registration token.
        case token(String)
        case topic(TopicName)
        case condition(TopicCondition)
    }

    /// One device, topic or condition, never several.
    public let target: Target
    /// The whole message on the wire, the target included.
    public let fields: JSONObject
    /// Read once: a message to many is looked at for each of its devices.
    public let android: AndroidOptions

    init(target: Target, fields: JSONObject) {
        self.target = target
        self.fields = fields
        android = AndroidOptions(fields)
    }

    /// What the application sends to itself, where no platform replaces it.
    public var data: JSONObject { Self.data(fields) }
    /// What is shown, where no platform replaces it; nil where nothing is.
    public var notification: JSONObject? { Self.filled(fields["notification"]) }
    /// What holds for Android, after overrides.
    /// What holds for browsers; what it does not say, the message says.
    public var webpush: WebpushOptions { WebpushOptions(fields: fields["webpush"]?.object ?? JSONObject()) }
    /// What holds for Apple's devices; what it does not say, the message says.
    public var apns: ApnsOptions { ApnsOptions(fields: fields["apns"]?.object ?? JSONObject()) }
    /// The label under which the message is counted, where no platform replaces it.
    public var analyticsLabel: String? { Self.analyticsLabel(fields) }

    fileprivate static func data(_ fields: JSONObject) -> JSONObject { fields["data"]?.object ?? JSONObject() }
    fileprivate static func analyticsLabel(_ fields: JSONObject) -> String? { fields["fcm_options"]?["analytics_label"]?.string }

    /// Whether a platform's own part is there, empty or not.
    func hasPart(_ name: String) -> Bool { fields[name] != nil }

    static func filled(_ value: JSONValue?) -> JSONObject? {
        guard let members = value?.object, !members.isEmpty else { return nil }
        return members
    }

    /// The members of `first` with those of `second` laid over them.
    static func merged(_ first: JSONObject?, _ second: JSONObject?) -> JSONObject? {
        guard let second, !second.isEmpty else { return first }
        guard var result = first else { return second }
        for (name, value) in second { result[name] = value }
        return result
    }
}

/// What a message says to Android, in either of the two forms.
public struct AndroidOptions: Sendable {
    /// Whether a sleeping device is woken.
    public enum Priority: UInt8, Sendable {
        case normal
        case high
    }

    /// Of messages with the same key only the newest waits for a device.
    public let collapseKey: String?
    /// As it was named; else high where something is shown.
    public let priority: Priority
    /// How long it may wait, from 0 to four weeks.
    public let ttlSeconds: Int
    /// The only package that gets it; nil for any.
    public let restrictedPackageName: String?
    /// The label under which it is counted, after overrides.
    public let analyticsLabel: String?
    /// What the application gets, after overrides.
    public let data: JSONObject
    /// What is shown, after overrides; nil where nothing is.
    public let notification: JSONObject?
    /// `android_v2` has no priority of its own, and collapses only where it says so.
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

/// What a message says to browsers.
public struct WebpushOptions: Sendable {
    let fields: JSONObject

    /// Header fields for the push service, named in whatever case.
    public func header(_ name: String) -> String? {
        fields["headers"]?.object?.first { $0.key.lowercased() == name.lowercased() }?.value.string
    }

    /// Header fields for the push service, named as they were given.
    public var headers: JSONObject { fields["headers"]?.object ?? JSONObject() }
    /// Replaces the message's data as a whole; nil where it does not.
    public var data: JSONObject? { fields["data"]?.object }
    /// Options that are laid over the message's notification; nil where there are none.
    public var notification: JSONObject? { Message.filled(fields["notification"]) }
    /// What is opened when the notification is clicked.
    public var link: String? { fields["fcm_options"]?["link"]?.string }
    /// Replaces the message's label.
    public var analyticsLabel: String? { fields["fcm_options"]?["analytics_label"]?.string }

    /// How long a push service keeps it: what the header says, at most four weeks.
    public var ttlSeconds: Int {
        guard let text = header("TTL") else { return AndroidOptions.ttlSecondsMax }
        return min(Int(text) ?? AndroidOptions.ttlSecondsMax, AndroidOptions.ttlSecondsMax)
    }
}

/// What a message says to Apple's devices.
public struct ApnsOptions: Sendable {
    let fields: JSONObject

    /// Header fields for APNs, named as they were given.
    public var headers: JSONObject { fields["headers"]?.object ?? JSONObject() }
    /// What is sent to the device, with `aps` and what stands beside it.
    public var payload: JSONObject? { fields["payload"]?.object }
    /// The URL of a picture, in place of the notification's.
    public var image: String? { fields["fcm_options"]?["image"]?.string }
    /// Replaces the message's label.
    public var analyticsLabel: String? { fields["fcm_options"]?["analytics_label"]?.string }
    /// Whom a Live Activity is for, in place of the device's own token.
    public var liveActivityToken: String? { fields["live_activity_token"]?.string }

    /// The value of a header field; `name` in lower case.
    public func header(_ name: String) -> String? {
        headers.first { $0.key.lowercased() == name }?.value.string
    }
}
