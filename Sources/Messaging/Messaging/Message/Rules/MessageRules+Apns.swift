import HearthJSON

extension MessageRules {
    static let pushTypes = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk", "widgets", "controls",
    ]

    /// Checks the options for APNs (spec messaging 1.8 and 7.2).
    mutating func checkApns() {
        guard let apns = message.fields["apns"]?.object else { return }
        for (name, value) in apns["headers"]?.object ?? JSONObject() { checkApnsHeader(name.lowercased(), value.string ?? "") }
        if let payload = apns["payload"]?.object { checkPayload(payload) }
        checkDataOnlyPriority()
        checkURL(apns["fcm_options"]?["image"], "message.apns.fcm_options.image")
        checkLabel(apns["fcm_options"], "message.apns.fcm_options")
        guard apns["live_activity_token"] != nil else { return }
        let event = apns["payload"]?["aps"]?["event"]?.string ?? ""
        if !["start", "update", "end"].contains(event) {
            fail("message.apns.live_activity_token", "requires apns.payload.aps.event to be start, update or end")
        }
    }

    private mutating func checkApnsHeader(_ name: String, _ value: String) {
        let path = "message.apns.headers"
        switch name {
        case "apns-priority": if !["1", "5", "10"].contains(value) { fail(path, "apns-priority must be 1, 5 or 10") }
        case "apns-expiration":
            if value.isEmpty || !value.utf8.allSatisfy({ $0 &- 48 < 10 }) { fail(path, "apns-expiration must be a UNIX time in seconds") }
        case "apns-collapse-id": if value.utf8.count > 64 { fail(path, "apns-collapse-id must not be longer than 64 bytes") }
        case "apns-push-type":
            if !Self.pushTypes.contains(value) { fail(path, "apns-push-type must be one of \(Self.pushTypes.joined(separator: ", "))") }
        default: return
        }
    }

    private mutating func checkPayload(_ payload: JSONObject) {
        let path = "message.apns.payload"
        guard let aps = payload["aps"]?.object else { return fail(path, "must contain an aps object") }
        checkAlert(aps["alert"], "\(path).aps.alert")
        guard message.notification == nil else { return }
        let means = ["alert", "badge", "sound", "content-available", "event"]
        if !means.contains(where: { aps[$0] != nil }) { fail(path, "aps must have alert, badge, sound or content-available") }
    }

    private mutating func checkAlert(_ alert: JSONValue?, _ path: String) {
        guard let alert = alert?.object else { return }
        for (arguments, key) in [("loc-args", "loc-key"), ("title-loc-args", "title-loc-key"), ("subtitle-loc-args", "subtitle-loc-key")] {
            guard alert[arguments]?.array?.isEmpty == false, alert[key]?.string == nil else { continue }
            fail("\(path).\(key)", "is required if \(arguments) is set")
        }
    }

    /// Refuses the highest priority for messages that the user does not notice. They must not wake up a device at once.
    private mutating func checkDataOnlyPriority() {
        let apns = message.apns
        guard apns.header("apns-priority") == "10", !ApplePayload.isVisible(message), apns.liveActivityToken == nil else { return }
        guard ["alert", "background", nil].contains(apns.header("apns-push-type")) else { return }
        fail("message.apns.headers", "apns-priority must be 5 without an alert, badge or sound")
    }
}
