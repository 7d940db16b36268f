public import HearthJSON

/// The request to APNs for a message (spec messaging 7.2).
public enum ApplePayload {
    /// The facts about a delivery that are not in its message.
    public struct Facts: Sendable {
        /// The last part of the message's name.
        public var messageID: String
        /// The project's number.
        public var sender: String
        /// The device's installation id.
        public var fid: String
        /// The application's bundle id.
        public var topic: String
        /// Seconds since 1970.
        public var now: Int64

        /// The facts about a delivery.
        public init(messageID: String, sender: String, fid: String, topic: String, now: Int64) {
            self.messageID = messageID
            self.sender = sender
            self.fid = fid
            self.topic = topic
            self.now = now
        }
    }

    /// Whether the user sees or hears the message.
    static func isVisible(_ message: Message) -> Bool {
        if message.notification != nil { return true }
        guard let aps = message.apns.payload?["aps"]?.object else { return false }
        return ["alert", "badge", "sound"].contains { aps[$0] != nil }
    }

    /// The JSON body.
    public static func body(_ message: Message, _ facts: Facts) -> JSONObject {
        let apns = message.apns
        var body = apns.payload ?? JSONObject()
        var aps = body["aps"]?.object ?? JSONObject()
        let notification = message.notification
        if aps["alert"] == nil, let notification {
            var alert = JSONObject()
            for name in ["title", "body"] { alert[name] = notification[name] }
            if !alert.isEmpty { aps["alert"] = .object(alert) }
        }
        if let image = apns.image ?? notification?["image"]?.string {
            var options = body["fcm_options"]?.object ?? JSONObject()
            options["image"] = .string(image)
            body["fcm_options"] = .object(options)
            if aps["mutable-content"] == nil { aps["mutable-content"] = 1 }
        }
        if apns.payload == nil, notification == nil { aps["content-available"] = 1 }
        body["aps"] = .object(aps)
        for (key, value) in message.data where key != "aps" && body[key] == nil { body[key] = value }
        body["gcm.message_id"] = .string(facts.messageID)
        body["google.c.sender.id"] = .string(facts.sender)
        body["google.c.fid"] = .string(facts.fid)
        if let label = apns.analyticsLabel ?? message.analyticsLabel {
            body["google.c.a.e"] = "1"
            body["google.c.a.m_l"] = .string(label)
        }
        return body
    }

    /// The header fields, except for the authorization.
    public static func headers(_ message: Message, _ facts: Facts) -> JSONObject {
        let apns = message.apns
        var headers = JSONObject()
        for (name, value) in apns.headers { headers[name.lowercased()] = value }
        let type = apns.header("apns-push-type") ?? pushType(message)
        headers["apns-push-type"] = .string(type)
        if headers["apns-priority"] == nil { headers["apns-priority"] = isVisible(message) || type == "liveactivity" ? "10" : "5" }
        if headers["apns-expiration"] == nil { headers["apns-expiration"] = .string("\(facts.now + 30 * 86400)") }
        if headers["apns-topic"] == nil { headers["apns-topic"] = .string(facts.topic + topicSuffix(type)) }
        return headers
    }

    /// The token of a Live Activity, if the message is for one instead of the device.
    public static func liveActivityToken(_ message: Message) -> String? { message.apns.liveActivityToken }

    private static func pushType(_ message: Message) -> String {
        if message.apns.liveActivityToken != nil { return "liveactivity" }
        return isVisible(message) ? "alert" : "background"
    }

    private static func topicSuffix(_ type: String) -> String {
        switch type {
        case "voip": ".voip"
        case "complication": ".complication"
        case "liveactivity": ".push-type.liveactivity"
        default: ""
        }
    }
}
