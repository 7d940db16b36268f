import HearthJSON

extension MessageRules {
    /// Checks the options for browsers (spec messaging 1.8).
    mutating func checkWebpush() {
        guard let webpush = message.fields["webpush"]?.object else { return }
        for (name, value) in webpush["headers"]?.object ?? JSONObject() { checkWebpushHeader(name.lowercased(), value.string ?? "") }
        checkKeys(webpush["data"]?.object, "message.webpush.data")
        checkWebNotification(webpush["notification"])
        checkURL(webpush["fcm_options"]?["link"], "message.webpush.fcm_options.link", httpsOnly: true)
        checkLabel(webpush["fcm_options"], "message.webpush.fcm_options")
    }

    private mutating func checkWebpushHeader(_ name: String, _ value: String) {
        switch name {
        case "ttl":
            guard value.isEmpty || !value.utf8.allSatisfy({ $0 &- 48 < 10 }) else { return }
            let text = "TTL must be a non-negative integer."
            fail("message.webpush.headers.TTL", text, message: text)
        case "urgency":
            guard !["very-low", "low", "normal", "high"].contains(value) else { return }
            fail("message.webpush.headers", "Urgency must be very-low, low, normal or high")
        case "topic":
            let isTopic = value.utf8.allSatisfy { TopicName.isAllowed($0) && $0 != 0x2E && $0 != 0x7E && $0 != 0x25 }
            guard value.utf8.count > 32 || !isTopic else { return }
            fail("message.webpush.headers", "Topic must be at most 32 of the characters a-z, A-Z, 0-9, - and _")
        default: return
        }
    }

    private mutating func checkWebNotification(_ notification: JSONValue?) {
        let path = "message.webpush.notification"
        if let direction = notification?["dir"], !["auto", "ltr", "rtl"].contains(direction.string ?? "") {
            fail("\(path).dir", "must be auto, ltr or rtl")
        }
        for name in ["title", "body", "icon", "badge", "image", "lang", "tag"] {
            guard let value = notification?[name], value.string == nil, !value.isNull else { continue }
            fail("\(path).\(name)", "must be a string")
        }
        for name in ["silent", "renotify", "requireInteraction"] {
            guard let value = notification?[name], value.bool == nil, !value.isNull else { continue }
            fail("\(path).\(name)", "must be true or false")
        }
        guard let actions = notification?["actions"], !actions.isNull else { return }
        guard let list = actions.array, list.allSatisfy({ $0["action"]?.string != nil && $0["title"]?.string != nil }) else {
            return fail("\(path).actions", "must be a list of objects with action and title")
        }
    }
}
