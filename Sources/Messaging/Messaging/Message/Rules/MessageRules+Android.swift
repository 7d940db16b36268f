import HearthJSON

extension MessageRules {
    /// Checks Android's options (spec messaging 1.5 to 1.7).
    mutating func checkAndroid() {
        let (v1, v2) = (message.fields["android"]?.object, message.fields["android_v2"]?.object)
        if v1 != nil, v2 != nil { fail("message", "android and android_v2 cannot be set together") }
        if let v1 {
            checkAndroidOptions(v1, "message.android")
            checkAndroidNotification(v1["notification"], "message.android.notification")
        }
        guard let v2 else { return }
        checkAndroidOptions(v2, "message.android_v2")
        if (v2["remote_notification"] == nil) == (v2["background_sync"] == nil) {
            fail("message.android_v2", "exactly one of remote_notification and background_sync must be set")
        }
        checkAndroidNotification(v2["remote_notification"]?["notification"], "message.android_v2.remote_notification.notification")
    }

    private mutating func checkAndroidOptions(_ options: JSONObject, _ path: String) {
        if let ttl = options["ttl"]?.string.flatMap({ ProtoDuration($0) }) {
            if ttl.isBelowZero || ttl.seconds > AndroidOptions.ttlSecondsMax {
                let text = "Invalid time-to-live duration; must be between 0 and 2419200 seconds."
                fail("\(path).ttl", text, message: text)
            }
        }
        checkKeys(options["data"]?.object, "\(path).data")
        checkLabel(options["fcm_options"], "\(path).fcm_options")
    }

    private mutating func checkAndroidNotification(_ value: JSONValue?, _ path: String) {
        guard let notification = value?.object else { return }
        if let color = notification["color"]?.string, !Self.isColor(color) { fail("\(path).color", "must be #RRGGBB") }
        for part in ["body", "title"] where notification["\(part)_loc_args"]?.array?.isEmpty == false {
            guard notification["\(part)_loc_key"] == nil else { continue }
            fail("\(path).\(part)_loc_key", "is required if \(part)_loc_args is set")
        }
        checkURL(notification["image"], "\(path).image")
        if let count = notification["notification_count"]?.int, count < 0 { fail("\(path).notification_count", "must not be negative") }
        let timings = notification["vibrate_timings"]?.array ?? []
        if timings.contains(where: Self.isNegative) { fail("\(path).vibrate_timings", "must not be negative") }
        checkLights(notification["light_settings"]?.object, "\(path).light_settings")
    }

    private mutating func checkLights(_ lights: JSONObject?, _ path: String) {
        guard let lights else { return }
        guard let color = lights["color"]?.object else { return fail(path, "color is required") }
        for part in ["red", "green", "blue", "alpha"] {
            if let value = color[part]?.double, !(0...1).contains(value) { fail(path, "color.\(part) must be from 0 to 1") }
        }
        for part in ["light_on_duration", "light_off_duration"] {
            guard let duration = lights[part] else {
                fail(path, "\(part) is required")
                continue
            }
            if Self.isNegative(duration) { fail(path, "\(part) must not be negative") }
        }
    }

    private static func isNegative(_ duration: JSONValue) -> Bool {
        duration.string.flatMap { ProtoDuration($0) }?.isBelowZero ?? true
    }

    /// Whether the text matches `^#[0-9a-fA-F]{6}$`.
    private static func isColor(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 7, bytes[0] == UInt8(ascii: "#") else { return false }
        return bytes.dropFirst().allSatisfy { (48...57).contains($0) || (65...70).contains($0) || (97...102).contains($0) }
    }
}
