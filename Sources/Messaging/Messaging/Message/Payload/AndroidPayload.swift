public import HearthJSON

/// The bundle for Android's client library (spec messaging 7.3).
public enum AndroidPayload {
    /// The facts about a delivery that are not in its message.
    public struct Facts: Sendable {
        /// The last part of the message's name.
        public var messageID: String
        /// The project's number.
        public var sender: String
        /// The sender, or `/topics/NAME`.
        public var from: String
        /// When the message was sent, in milliseconds since 1970.
        public var sentTime: Int64
        /// The collapse key of the delivery, which takes precedence over the data.
        public var collapseKey: String?
    }

    /// The whole bundle. All values are strings, except for times.
    public static func bundle(_ message: Message, _ facts: Facts) -> JSONObject {
        let android = message.android
        var bundle = JSONObject()
        // The client uses this name itself, and drops it from data.
        for (key, value) in android.data where key != "collapse_key" { bundle[key] = value }
        let priority: JSONValue = android.priority == .high ? "high" : "normal"
        bundle["from"] = .string(facts.from)
        bundle["google.message_id"] = .string(facts.messageID)
        bundle["google.sent_time"] = .int(facts.sentTime)
        bundle["google.ttl"] = .int(Int64(android.ttlSeconds))
        bundle["google.original_priority"] = priority
        bundle["google.delivered_priority"] = priority
        bundle["google.c.sender.id"] = .string(facts.sender)
        if let key = facts.collapseKey { bundle["collapse_key"] = .string(key) }
        if let label = android.analyticsLabel {
            bundle["google.c.a.e"] = "1"
            bundle["google.c.a.m_l"] = .string(label)
        }
        if let notification = android.notification { append(notification, to: &bundle) }
        return bundle
    }

    private static func append(_ notification: JSONObject, to bundle: inout JSONObject) {
        bundle["gcm.n.e"] = "1"
        for (name, value) in notification {
            switch name {
            case "sound":
                bundle["gcm.n.sound2"] = value
                bundle["gcm.n.sound"] = "default"
            case "event_time":
                if let time = value.string.flatMap({ Timestamp($0) }) { bundle["gcm.n.event_time"] = .string("\(time.milliseconds)") }
            case "notification_priority":
                // The device expects numbers with 0 as the default, unlike the enumeration.
                bundle["gcm.n.notification_priority"] = .string("\(number(value, MessageSchema.notificationPriority, default: 3) - 3)")
            case "visibility":
                // The constants of Android.
                bundle["gcm.n.visibility"] = value == "PUBLIC" ? "1" : value == "SECRET" ? "-1" : "0"
            case "vibrate_timings", "light_settings", "title_loc_args", "body_loc_args":
                bundle["gcm.n.\(name)"] = .string(String(decoding: list(name, value).serialized(), as: UTF8.self))
            case "proxy", "bypass_proxy_notification": bundle["gcm.n.dnp"] = value == "DENY" ? "1" : nil
            case "channel_id": bundle["gcm.n.android_channel_id"] = value
            default: bundle["gcm.n.\(name)"] = .string(text(value))
            }
        }
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .bool(let isOn): isOn ? "1" : "0"
        default: String(decoding: value.serialized(), as: UTF8.self)
        }
    }

    /// The number of an enumeration's value. The first value stands for `default`.
    private static func number(_ value: JSONValue, _ enumeration: ProtoEnumeration, default standard: Int) -> Int {
        let number = enumeration.values.firstIndex(of: value.string ?? "") ?? 0
        return number == 0 ? standard : number
    }

    /// A list in the form that the client parses: durations in milliseconds, colours as one number.
    private static func list(_ name: String, _ value: JSONValue) -> JSONValue {
        func milliseconds(_ value: JSONValue?) -> JSONValue { .int(value?.string.flatMap { ProtoDuration($0) }?.milliseconds ?? 0) }
        switch name {
        case "vibrate_timings": return .array((value.array ?? []).map { milliseconds($0) })
        case "light_settings":
            return .array([color(value["color"]), milliseconds(value["light_on_duration"]), milliseconds(value["light_off_duration"])])
        default: return value
        }
    }

    private static func color(_ color: JSONValue?) -> JSONValue {
        let parts = [color?["alpha"]?.double ?? 1, color?["red"]?.double ?? 0, color?["green"]?.double ?? 0, color?["blue"]?.double ?? 0]
        let number = parts.reduce(Int64(0)) { $0 << 8 | Int64(($1 * 255).rounded()) }
        return .string("#\(String(number, radix: 16, uppercase: true))")
    }
}
