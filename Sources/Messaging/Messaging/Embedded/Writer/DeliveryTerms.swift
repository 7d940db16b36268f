/// How a message is to be delivered to one device: what the platform's own options say (spec messaging 6.4 and 7.6).
struct DeliveryTerms {
    let ttlSeconds: Int
    let isHighPriority: Bool
    /// Nil where messages do not replace each other.
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
        // The preview form collapses only where it says so.
        if android.isVersion2 { return android.collapseKey }
        if collapsesNotifications, android.notification != nil { return device.package }
        if let key = android.collapseKey { return key }
        guard android.data.isEmpty, android.notification == nil else { return nil }
        return switch message.target {
        case .topic, .condition: device.package
        case .fid, .token: nil
        }
    }

    /// An absolute time; 0, and what is over, is now or never.
    private static func appleTTL(_ expiration: String?, now: Int64) -> Int {
        guard let expiration, let seconds = Int64(expiration) else { return AndroidOptions.ttlSecondsMax }
        return Int(min(max(0, seconds - now / 1000), Int64(AndroidOptions.ttlSecondsMax)))
    }
}
