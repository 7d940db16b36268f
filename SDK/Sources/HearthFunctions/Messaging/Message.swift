public import HearthJSON

/// A push message, with the fields and names of the Firebase Admin SDKs.
///
///     let name = try await messaging.send(
///         Message(.token(token), notification: .init(title: "New follower", body: "Ann follows you now.")))
///
/// The host checks it as the hosted service does before anything is sent; what is wrong comes as a `MessagingError` with the path of
/// each field.
public struct Message: Sendable, Hashable {
    /// What is shown to people on every platform, unless the platform's own part says otherwise.
    public struct Notification: Sendable, Hashable {
        /// Its first line.
        public var title: String?
        /// Its text.
        public var body: String?
        /// An http or https URL of a picture.
        public var imageURL: String?

        /// Everything may be left out.
        public init(title: String? = nil, body: String? = nil, imageURL: String? = nil) {
            self.title = title
            self.body = body
            self.imageURL = imageURL
        }
    }

    /// Whom it is for.
    public var target: Target
    /// What the app gets. Keys may not be "from" or "message_type" nor begin with "google" or "gcm"; with everything
    /// else that is counted it has at most 4,096 bytes.
    public var data: [String: String]
    /// What is shown; without it, and without a platform's own, the app's code gets ``data`` and nothing is shown.
    public var notification: Notification?
    /// What holds for Android devices only.
    public var android: AndroidConfig?
    /// What holds for browsers only.
    public var webpush: WebpushConfig?
    /// What holds for Apple devices only.
    public var apns: ApnsConfig?
    /// Its label of analytics, unless the platform's own part has one.
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
    /// Installation ids, whose responses follow those of ``tokens``.
    public var fids: [String]
    /// What the app gets, by the rules of ``Message/data``.
    public var data: [String: String]
    /// What is shown on every platform.
    public var notification: Message.Notification?
    /// What holds for Android devices only.
    public var android: AndroidConfig?
    /// What holds for browsers only.
    public var webpush: WebpushConfig?
    /// What holds for Apple devices only.
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

/// What analytics call a message, on every platform.
public struct FcmOptions: Sendable, Hashable {
    /// 1 to 50 letters, digits and `-_.~%`.
    public var analyticsLabel: String?

    /// Everything may be left out.
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
