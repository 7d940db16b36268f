import JSON

/// How many bytes of a message count (spec messaging 1.10).
public struct PayloadSize: Sendable {
    /// Data and notification as they are for everybody.
    public let common: Int
    /// The same after Android's overrides.
    public let android: Int
    /// The same after the browsers' overrides.
    public let web: Int
    /// What is sent to APNs.
    public let apple: Int

    private let hasAndroid: Bool
    private let hasWeb: Bool
    private let hasApplePayload: Bool
    private let appleBytesMax: Int

    /// Which devices a message may reach, as far as that is known.
    public enum Reach: Sendable {
        /// A topic or a condition: every platform that the message speaks to.
        case everyone
        /// A device whose platform is not looked up yet: what is too large for every platform.
        case unknownDevice
        /// A device of this platform.
        case device(DevicePlatform)
    }

    /// Measures a message.
    public init(_ message: Message) {
        let (data, notification) = (message.data, message.notification)
        common = Self.data(data) + Self.notification(notification)
        hasAndroid = message.hasPart("android") || message.hasPart("android_v2")
        let options = message.android
        android = hasAndroid ? Self.data(options.data) + Self.notification(options.notification) : common
        hasWeb = message.hasPart("webpush")
        let web = message.webpush
        self.web =
            hasWeb
            ? Self.data(web.data ?? data) + Self.notification(Message.merged(notification, web.notification)) : common
        hasApplePayload = message.apns.payload != nil
        let limits = ApplePayload.Facts(messageID: "0000000000000000", sender: "000000000000", fid: "", topic: "", now: 0)
        apple = JSONValue.object(ApplePayload.body(message, limits)).serialized().count
        appleBytesMax = message.apns.header("apns-push-type") == "voip" ? 5120 : 4096
    }

    /// Refuses what is too large for whom it may reach.
    public func check(_ reach: Reach, limit: Int) throws(MessagingError) {
        let size: Int
        var reachesApple = hasApplePayload
        switch reach {
        case .everyone: size = max(common, hasAndroid ? android : 0, hasWeb ? web : 0)
        case .unknownDevice: size = min(common, android, web)
        case .device(.android): size = android
        case .device(.web): size = web
        case .device(.ios):
            size = common
            reachesApple = true
        }
        guard size <= limit else { throw .tooLarge(size, limit: limit, field: "message.data") }
        guard !reachesApple || apple <= appleBytesMax else {
            throw .tooLarge(apple, limit: appleBytesMax, field: "message.apns.payload")
        }
    }

    private static func data(_ data: JSONObject) -> Int {
        data.reduce(0) { $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? 0) }
    }

    private static func notification(_ value: JSONObject?) -> Int {
        value.map { leaves(of: .object($0), name: "") } ?? 0
    }

    private static func leaves(of value: JSONValue, name: String) -> Int {
        switch value {
        case .object(let members): members.reduce(0) { $0 + leaves(of: $1.value, name: $1.key) }
        case .array(let elements): elements.reduce(name.utf8.count) { $0 + leaves(of: $1, name: "") }
        case .string(let text): name.utf8.count + text.utf8.count
        default: name.utf8.count + value.serialized().count
        }
    }
}
