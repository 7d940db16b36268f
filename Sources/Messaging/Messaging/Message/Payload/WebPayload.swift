public import HearthJSON

/// The JSON in a push message to a browser, in the form that the web SDK's service worker reads (spec messaging 7.4).
public enum WebPayload {
    /// The notification to show, after overrides; nil if there is none.
    static func notification(_ message: Message) -> JSONObject? {
        let web = message.webpush
        guard var notification = Message.merged(message.notification, web.notification) else { return nil }
        if let link = web.link { notification["click_action"] = .string(link) }
        return notification
    }

    /// The whole payload.
    ///
    /// - Parameter sender: the project's number.
    public static func body(_ message: Message, messageID: String, sender: String, from: String, collapseKey: String?) -> JSONObject {
        let web = message.webpush
        var body: JSONObject = ["from": .string(from), "fcmMessageId": .string(messageID)]
        if let collapseKey { body["collapse_key"] = .string(collapseKey) }
        let data = web.data ?? message.data
        if !data.isEmpty { body["data"] = .object(data) }
        if let notification = notification(message) { body["notification"] = .object(notification) }
        var options = JSONObject()
        if let link = web.link { options["link"] = .string(link) }
        if let label = web.analyticsLabel ?? message.analyticsLabel { options["analytics_label"] = .string(label) }
        if !options.isEmpty { body["fcmOptions"] = .object(options) }
        return body
    }
}
