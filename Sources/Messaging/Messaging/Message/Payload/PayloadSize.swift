import HearthJSON

/// How many bytes of a message count (spec messaging 1.10). Each size is measured when it is asked for: most sends need one or two.
public struct PayloadSize: Sendable {
    private let message: Message

    /// What is measured.
    public init(_ message: Message) { self.message = message }

    /// Data and notification as they are for everybody.
    public var common: Int { Self.data(message.data) + Self.notification(message.notification) }

    /// The same after Android's overrides.
    public var android: Int {
        hasAndroid ? Self.data(message.android.data) + Self.notification(message.android.notification) : common
    }

    /// The same after the browsers' overrides.
    public var web: Int {
        guard hasWeb else { return common }
        let web = message.webpush
        return Self.data(web.data ?? message.data) + Self.notification(Message.merged(message.notification, web.notification))
    }

    /// What is sent to APNs.
    public var apple: Int {
        let limits = ApplePayload.Facts(messageID: "0000000000000000", sender: "000000000000", fid: "", topic: "", now: 0)
        return JSONValue.object(ApplePayload.body(message, limits)).serialized().count
    }

    private var hasAndroid: Bool { message.hasPart("android") || message.hasPart("android_v2") }
    private var hasWeb: Bool { message.hasPart("webpush") }

    /// Which devices a message may reach, as far as that is known.
    public enum Reach: Sendable {
        /// A topic or a condition: every platform that the message speaks to.
        case everyone
        /// A device whose platform is not looked up yet: what is too large for every platform.
        case unknownDevice
        /// A device of this platform.
        case device(DevicePlatform)
    }

    /// Refuses what is too large for whom it may reach.
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
