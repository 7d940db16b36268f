import HearthJSON

/// A message in the form of a device's connection (spec messaging 6.8).
struct MessageFrame {
    let made: DeviceFrame

    init(_ stored: StoredMessage, _ row: PendingRow, _ device: Device, sender: String, now: Int64) {
        let (message, id) = (stored.message, stored.name)
        let from = Self.from(message, sender: sender)
        let priority: JSONValue = row.isHighPriority ? "high" : "normal"
        var frame: JSONObject = [
            "type": "message", "message_id": .string(id), "from": .string(from), "sent_time": .int(stored.sent),
            "ttl": JSONValue(row.ttlSeconds), "priority": priority, "original_priority": priority,
        ]
        if let key = row.collapseKey { frame["collapse_key"] = .string(key) }
        var data: JSONObject
        let notification: JSONObject?
        let payload: JSONObject
        switch device.platform {
        case .android:
            let android = message.android
            (data, notification) = (android.data, android.notification)
            let facts = AndroidPayload.Facts(
                messageID: id, sender: sender, from: from, sentTime: stored.sent, collapseKey: row.collapseKey)
            payload = AndroidPayload.bundle(message, facts)
        case .web:
            (data, notification) = (message.webpush.data ?? message.data, WebPayload.notification(message))
            payload = WebPayload.body(message, messageID: id, sender: sender, from: from, collapseKey: row.collapseKey)
        case .ios:
            let facts = ApplePayload.Facts(messageID: id, sender: sender, fid: device.fid, topic: device.package, now: stored.sent / 1000)
            payload = ApplePayload.body(message, facts)
            (data, notification) = (message.data, Message.merged(message.notification, payload["aps"]?["alert"]?.object))
            frame["headers"] = .object(ApplePayload.headers(message, facts))
        }
        // The collapse key of the service replaces one that an application has put into the data.
        if data["collapse_key"] != nil {
            let own = row.collapseKey.map { JSONValue.string($0) }
            data["collapse_key"] = own
        }
        if !data.isEmpty { frame["data"] = .object(data) }
        if let notification, !notification.isEmpty { frame["notification"] = .object(notification) }
        frame["platform"] = .string(device.platform.rawValue)
        frame["payload"] = .object(payload)
        made = DeviceFrame(kind: .message, id: id, json: JSONValue.object(frame).serialized())
    }

    /// The sender that the receiver sees.
    static func from(_ message: Message, sender: String) -> String {
        if case .topic(let topic) = message.target { TopicName.prefix + topic.text } else { sender }
    }
}
