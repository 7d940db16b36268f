import HearthJSON

/// The size of a message (spec messaging 1.10). Each size is computed when it is used, because most sends need only one or two.
public struct PayloadSize: Sendable {
    private let message: Message

    /// The sizes of `message`.
    public init(_ message: Message) { self.message = message }

    /// The size of data and notification, without overrides of platforms.
    public var common: Int { Self.data(message.data) + Self.notification(message.notification) }

    /// The same with Android's overrides.
    public var android: Int {
        hasAndroid ? Self.data(message.android.data) + Self.notification(message.android.notification) : common
    }

    /// The same with the overrides for browsers.
    public var web: Int {
        guard hasWeb else { return common }
        let web = message.webpush
        return Self.data(web.data ?? message.data) + Self.notification(Message.merged(message.notification, web.notification))
    }

    /// The size of the body for APNs.
    public var apple: Int {
        let limits = ApplePayload.Facts(messageID: "0000000000000000", sender: "000000000000", fid: "", topic: "", now: 0)
        return JSONValue.object(ApplePayload.body(message, limits)).serialized().count
    }

    private var hasAndroid: Bool { message.hasPart("android") || message.hasPart("android_v2") }
    private var hasWeb: Bool { message.hasPart("webpush") }

    /// The devices that a message may reach, as far as known.
    public enum Reach: Sendable {
        /// The devices of a topic or condition: all platforms that the message has options for.
        case everyone
        /// A device whose platform is not known yet. Only messages that are too large for all platforms are refused.
        case unknownDevice
        /// A device of this platform.
        case device(DevicePlatform)
    }

    /// Refuses messages that are too large for the devices that they may reach.
    public func check(_ reach: Reach, limit: Int) throws(MessagingError) {
        let size: Int
        var reachesApple = message.hasPart("apns") && message.apns.payload != nil
        switch reach {
        case .everyone: size = max(common, hasAndroid ? android : 0, hasWeb ? web : 0)
        case .unknownDevice: size = min(common, hasAndroid ? android : .max, hasWeb ? web : .max)
        case .device(.android): size = android
        case .device(.web): size = web
        case .device(.ios):
            size = common
            reachesApple = true
        }
        guard size <= limit else { throw .tooLarge(size, limit: limit, field: "message.data") }
        guard reachesApple else { return }
        let (apple, limit) = (apple, message.apns.header("apns-push-type") == "voip" ? 5120 : 4096)
        guard apple <= limit else { throw .tooLarge(apple, limit: limit, field: "message.apns.payload") }
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
