/// The schemas of the send request (spec messaging 1).
enum MessageSchema {
    /// `SendMessageRequest`.
    static let request = ProtoSchema(["message": .message(message), "validate_only": .bool])

    private static let message = ProtoSchema(
        [
            "name": .string, "data": .stringMap, "notification": .message(notification), "android": .message(android),
            "android_v2": .message(androidV2), "webpush": .message(webpush), "apns": .message(apns), "fcm_options": .message(label),
            "fid": .string, "token": .string, "topic": .string, "condition": .string,
        ], targets: ["fid", "token", "topic", "condition"])

    private static let notification = ProtoSchema(["title": .string, "body": .string, "image": .string])
    private static let label = ProtoSchema(["analytics_label": .string])

    // MARK: Android

    private static let android = ProtoSchema([
        "collapse_key": .string, "priority": .enumeration(priority), "ttl": .duration, "restricted_package_name": .string, "data": .stringMap,
        "notification": .message(androidNotification), "fcm_options": .message(label), "direct_boot_ok": .bool,
        "bandwidth_constrained_ok": .bool, "restricted_satellite_ok": .bool,
    ])

    private static let androidV2 = ProtoSchema([
        "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .stringMap, "fcm_options": .message(label),
        "direct_boot_ok": .bool, "bandwidth_constrained_ok": .bool, "restricted_satellite_ok": .bool,
        "remote_notification": .message(
            ProtoSchema(["notification": .message(androidV2Notification), "mutable_content": .bool, "use_as_v1_data_message": .bool])),
        "background_sync": .message(ProtoSchema([:])),
    ])

    private static let androidNotification = ProtoSchema([
        "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string, "click_action": .string,
        "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string, "title_loc_args": .list(.string),
        "channel_id": .string, "ticker": .string, "sticky": .bool, "event_time": .timestamp, "local_only": .bool,
        "notification_priority": .enumeration(notificationPriority), "default_sound": .bool, "default_vibrate_timings": .bool,
        "default_light_settings": .bool, "vibrate_timings": .list(.duration), "visibility": .enumeration(visibility),
        "notification_count": .int32, "light_settings": .message(lightSettings), "image": .string, "proxy": .enumeration(proxy),
        "bypass_proxy_notification": .bool,
    ])

    private static let androidV2Notification = ProtoSchema([
        "id": .int32, "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
        "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
        "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .bool, "event_time": .timestamp,
        "local_only": .bool, "notification_priority": .enumeration(notificationPriority), "default_sound": .bool,
        "default_vibrate_timings": .bool, "default_light_settings": .bool, "vibrate_timings": .list(.duration),
        "visibility": .enumeration(visibility), "notification_count": .int32, "light_settings": .message(lightSettings), "image": .string,
    ])

    private static let lightSettings = ProtoSchema([
        "color": .message(ProtoSchema(["red": .float, "green": .float, "blue": .float, "alpha": .float])),
        "light_on_duration": .duration, "light_off_duration": .duration,
    ])

    static let priority = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidMessagePriority", values: ["NORMAL", "HIGH"], aliases: ["normal": "NORMAL", "high": "HIGH"])
    static let notificationPriority = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidNotification.NotificationPriority",
        values: ["PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"])
    static let visibility = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidNotification.Visibility",
        values: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])
    static let proxy = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidNotification.Proxy", values: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])

    // MARK: Web and Apple

    private static let webpush = ProtoSchema([
        "headers": .stringMap, "data": .stringMap, "notification": .structure,
        "fcm_options": .message(ProtoSchema(["link": .string, "analytics_label": .string])),
    ])

    private static let apns = ProtoSchema([
        "headers": .stringMap, "payload": .structure,
        "fcm_options": .message(ProtoSchema(["image": .string, "analytics_label": .string])), "live_activity_token": .string,
    ])
}
