public import HearthJSON

/// A push message, with the fields and names of the Firebase Admin SDKs.
///
///     let name = try await messaging.send(
///         Message(.token(token), notification: .init(title: "New follower", body: "Ann follows you now.")))
///
/// The host checks the message as the hosted service does, before anything is sent. A `MessagingError` has the path of each invalid
/// field.
public struct Message: Sendable, Hashable {
    /// The notification on every platform, unless the platform's own part replaces it.
    public struct Notification: Sendable, Hashable {
        /// The title.
        public var title: String?
        /// Its text.
        public var body: String?
        /// An http or https URL of a picture.
        public var imageURL: String?

        /// Every part is optional.
        public init(title: String? = nil, body: String? = nil, imageURL: String? = nil) {
            self.title = title
            self.body = body
            self.imageURL = imageURL
        }
    }

    /// The receivers.
    public var target: Target
    /// Data for the app. Keys may not be "from" or "message_type" nor begin with "google" or "gcm"; with everything
    /// else that is counted it has at most 4,096 bytes.
    public var data: [String: String]
    /// The notification to show. Without it, and without a platform's own, the app gets ``data`` and nothing is shown.
    public var notification: Notification?
    /// Settings for Android devices.
    public var android: AndroidConfig?
    /// Settings for browsers.
    public var webpush: WebpushConfig?
    /// Settings for Apple devices.
    public var apns: ApnsConfig?
    /// The label of analytics, unless the platform's own part has one.
    public var fcmOptions: FcmOptions?

    /// A message for `target`; everything else may be left out.
    public init(
        _ target: Target, data: [String: String] = [:], notification: Notification? = nil, android: AndroidConfig? = nil,
        webpush: WebpushConfig? = nil, apns: ApnsConfig? = nil, fcmOptions: FcmOptions? = nil
    ) {
        self.target = target
        self.data = data
        self.notification = notification
        self.android = android
        self.webpush = webpush
        self.apns = apns
        self.fcmOptions = fcmOptions
    }

    /// The message as the HTTP v1 API has it.
    public var json: JSONValue {
        var object = WireObject()
        target.write(to: &object)
        object.set("data", data)
        object.set("notification", notification?.wire)
        object.set("android", android?.wire)
        object.set("webpush", webpush?.wire)
        object.set("apns", apns?.wire)
        object.set("fcm_options", fcmOptions?.wire)
        return object.json
    }
}

/// One message for up to 500 installations.
public struct MulticastMessage: Sendable, Hashable {
    /// Registration tokens; the responses to them come first.
    public var tokens: [String]
    /// Installation ids. Their responses follow those of ``tokens``.
    public var fids: [String]
    /// Data for the app, by the rules of ``Message/data``.
    public var data: [String: String]
    /// The notification on every platform.
    public var notification: Message.Notification?
    /// Settings for Android devices.
    public var android: AndroidConfig?
    /// Settings for browsers.
    public var webpush: WebpushConfig?
    /// Settings for Apple devices.
    public var apns: ApnsConfig?
    /// The label of analytics, unless the platform's own part has one.
    public var fcmOptions: FcmOptions?

    /// A message for all of `tokens` and `fids`.
    public init(
        tokens: [String] = [], fids: [String] = [], data: [String: String] = [:], notification: Message.Notification? = nil,
        android: AndroidConfig? = nil, webpush: WebpushConfig? = nil, apns: ApnsConfig? = nil, fcmOptions: FcmOptions? = nil
    ) {
        self.tokens = tokens
        self.fids = fids
        self.data = data
        self.notification = notification
        self.android = android
        self.webpush = webpush
        self.apns = apns
        self.fcmOptions = fcmOptions
    }

    /// One message for each installation.
    public var messages: [Message] {
        (tokens.map { Target.token($0) } + fids.map { Target.fid($0) }).map { target in
            Message(
                target, data: data, notification: notification, android: android, webpush: webpush, apns: apns, fcmOptions: fcmOptions)
        }
    }
}

/// The label of a message in analytics, on every platform.
public struct FcmOptions: Sendable, Hashable {
    /// 1 to 50 letters, digits and `-_.~%`.
    public var analyticsLabel: String?

    /// Every part is optional.
    public init(analyticsLabel: String? = nil) { self.analyticsLabel = analyticsLabel }

    var wire: WireObject {
        var object = WireObject()
        object.set("analytics_label", analyticsLabel)
        return object
    }
}

extension Message.Notification {
    var wire: WireObject {
        var object = WireObject()
        object.set("title", title)
        object.set("body", body)
        object.set("image", imageURL)
        return object
    }
}

/// The receivers of a message: exactly one of these.
public enum Target: Sendable, Hashable {
    /// One installation of an app, by its Firebase installation id.
    case fid(String)
    /// One installation of an app, by its registration token.
    case token(String)
    /// The subscribers of a topic, with or without a leading "/topics/".
    case topic(String)
    /// The subscribers that meet a condition.
    case condition(Condition)

    /// Writes the target into a message.
    func write(to object: inout WireObject) {
        switch self {
        case .fid(let fid): object.set("fid", fid)
        case .token(let token): object.set("token", token)
        case .topic(let topic): object.set("topic", topic.hasPrefix("/topics/") ? String(topic.dropFirst(8)) : topic)
        case .condition(let condition): object.set("condition", condition.description)
        }
    }
}

/// Selects the subscribers that get a message: topics combined with `&&`, `||` and `!`.
///
///     let keen: Condition = .topic("dogs") && (.topic("cats") || .topic("birds"))
///
/// For the service, `&&` and `||` have the same precedence. A condition that is built here has all parentheses, and so the meaning that
/// it has in Swift. At most five topics may be named.
public struct Condition: Sendable, Hashable, CustomStringConvertible {
    /// The condition as the service reads it: `'dogs' in topics && ('cats' in topics || 'birds' in topics)`.
    public let description: String
    private let isSingle: Bool

    private init(_ description: String, isSingle: Bool) {
        self.description = description
        self.isSingle = isSingle
    }

    /// Subscribers of one topic.
    public static func topic(_ name: String) -> Condition { Condition("'\(name)' in topics", isSingle: true) }

    /// A condition in the form of the service.
    public static func raw(_ text: String) -> Condition { Condition(text, isSingle: false) }

    /// Subscribers that meet both conditions.
    public static func && (left: Condition, right: Condition) -> Condition { joined(left, "&&", right) }

    /// Subscribers that meet one of the conditions, or both.
    public static func || (left: Condition, right: Condition) -> Condition { joined(left, "||", right) }

    /// Subscribers of any topic that do not meet the condition.
    public static prefix func ! (condition: Condition) -> Condition { Condition("!(\(condition.description))", isSingle: true) }

    private static func joined(_ left: Condition, _ sign: String, _ right: Condition) -> Condition {
        Condition("\(left.operand) \(sign) \(right.operand)", isSingle: false)
    }

    private var operand: String { isSingle ? description : "(\(description))" }
}

/// Builds a JSON object. Members that are not set are left out.
struct WireObject {
    private(set) var members = JSONObject()

    var isEmpty: Bool { members.isEmpty }
    var json: JSONValue { .object(members) }

    mutating func set(_ name: String, _ value: String?) {
        if let value { members[name] = .string(value) }
    }

    mutating func set(_ name: String, _ value: Bool?) {
        if let value { members[name] = .bool(value) }
    }

    mutating func set(_ name: String, _ value: Int?) {
        if let value { members[name] = .int(Int64(value)) }
    }

    mutating func set(_ name: String, _ values: [String]) {
        if !values.isEmpty { members[name] = .array(values.map { .string($0) }) }
    }

    mutating func set(_ name: String, _ map: [String: String]) {
        guard !map.isEmpty else { return }
        members[name] = .object(JSONObject(map.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    mutating func set(_ name: String, _ duration: Duration?) {
        if let duration { members[name] = .string(duration.wire) }
    }

    mutating func set(_ name: String, json value: JSONValue?) {
        if let value { members[name] = value }
    }

    /// Adds an object, unless nothing in it is set.
    mutating func set(_ name: String, _ object: WireObject?) {
        if let object, !object.isEmpty { members[name] = object.json }
    }
}

extension Duration {
    /// A duration as JSON has it in Google's APIs: "3600s", "1.500000000s".
    var wire: String {
        let (seconds, attoseconds) = components
        guard attoseconds != 0 else { return "\(seconds)s" }
        let nanoseconds = (attoseconds / 1_000_000_000).magnitude
        let sign = seconds < 0 || attoseconds < 0 ? "-" : ""
        return "\(sign)\(seconds.magnitude).\(String(nanoseconds + 1_000_000_000).dropFirst())s"
    }
}
