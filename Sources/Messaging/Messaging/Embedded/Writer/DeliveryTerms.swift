/// The terms of a message's delivery to a device, from the options for its platform (spec messaging 6.4 and 7.6).
struct DeliveryTerms {
    let ttlSeconds: Int
    let isHighPriority: Bool
    /// The collapse key; nil if the message replaces no other one.
    let collapseKey: String?

    init(_ message: Message, _ device: Device, collapsesNotifications: Bool, now: Int64) {
        switch device.platform {
        case .android:
            let android = message.android
            ttlSeconds = android.ttlSeconds
            isHighPriority = android.priority == .high
            collapseKey = Self.androidKey(message, android, device, collapsesNotifications)
        case .web:
            let web = message.webpush
            ttlSeconds = web.ttlSeconds
            isHighPriority = web.header("Urgency").map { $0 == "high" } ?? (WebPayload.notification(message) != nil)
            collapseKey = web.header("Topic")
        case .ios:
            let apns = message.apns
            ttlSeconds = Self.appleTTL(apns.header("apns-expiration"), now: now)
            isHighPriority = apns.header("apns-priority").map { $0 == "10" } ?? ApplePayload.isVisible(message)
            collapseKey = apns.header("apns-collapse-id")
        }
    }

    private static func androidKey(
        _ message: Message, _ android: AndroidOptions, _ device: Device, _ collapsesNotifications: Bool
    ) -> String? {
        // In the preview form, messages collapse only if they have a key.
        if android.isVersion2 { return android.collapseKey }
        if collapsesNotifications, android.notification != nil { return device.package }
        if let key = android.collapseKey { return key }
        guard android.data.isEmpty, android.notification == nil else { return nil }
        return switch message.target {
        case .topic, .condition: device.package
        case .fid, .token: nil
        }
    }

    /// The TTL until an absolute time. 0 if that is past, or 0 itself: then the message is delivered at once or not at all.
    private static func appleTTL(_ expiration: String?, now: Int64) -> Int {
        guard let expiration, let seconds = Int64(expiration) else { return AndroidOptions.ttlSecondsMax }
        return Int(min(max(0, seconds - now / 1000), Int64(AndroidOptions.ttlSecondsMax)))
    }
}
