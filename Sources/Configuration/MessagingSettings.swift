/// Push messages.
public struct MessagingSettings: Sendable, Equatable {
    public enum Backend: String, Sendable {
        case embedded
        case google
    }

    public enum Storage: String, Sendable {
        case sqlite
        case memory
    }

    public enum ReservedKeys: String, Sendable {
        case strict
        case wire
    }

    public enum Uninstall: String, Sendable {
        case lazy
        case eager
    }

    public var backend: Backend
    public var google: Google
    /// Nil where browsers' push services are not used.
    public var webPush: WebPush?
    /// Nil where Apple's push service is not used.
    public var apns: Apns?
    /// File of the authorities that these services are trusted by; nil for the system's.
    public var certificateAuthority: String?
    public var storage: Storage
    /// Nil where it is to be made from the project's id.
    public var projectNumber: String?
    /// Further projects.
    public var projects: [String]
    /// Whether `Bearer owner` is the administrator's in development mode.
    public var ownerToken: Bool
    public var reservedKeys: ReservedKeys
    public var collapseNotifications: Bool
    public var uninstall: Uninstall
    /// 0 is never.
    public var inactiveAfterDays: Int
    public var tokenExpiryDays: Int
    public var historySeconds: Int
    public var limits: Limits
    public var quotas: Quotas

    /// The FCM HTTP v1 API.
    public struct Google: Sendable, Equatable {
        /// Nil for the file that the environment names.
        public var serviceAccount: String?
        public var sendURL: String
        public var topicURL: String
        public var parallelism: Int
    }

    public struct WebPush: Sendable, Equatable {
        public var subject: String
        public var localEndpoints: Bool
    }

    public struct Apns: Sendable, Equatable {
        public var key: String
        public var keyID: String
        public var teamID: String
        public var productionURL: String
        public var sandboxURL: String
    }

    public struct Limits: Sendable, Equatable {
        public var payloadBytes: Int
        public var topicPayloadBytes: Int
        public var pendingMessages: Int
        public var collapseKeys: Int
        public var unacknowledgedMessages: Int
        public var topicsPerDevice: Int
        public var devices: Int
        public var connections: Int
    }

    /// Rates; 0 is no limit.
    public struct Quotas: Sendable, Equatable {
        public var projectPerMinute: Int
        public var devicePerMinute: Int
        public var devicePerHour: Int
        public var subscriptionsPerSecond: Int
        public var fanOuts: Int
    }
}

extension ConfigurationReader {
    mutating func messaging(_ field: Field) -> MessagingSettings {
        let (limits, quotas) = (field["limits"], field["quotas"])
        return MessagingSettings(
            backend: field["backend"].choice(MessagingSettings.Backend.self), google: google(field["google"]), webPush: webPush(field["webPush"]),
            apns: apns(field["apns"]), certificateAuthority: file(field["certificateAuthority"]),
            storage: field["storage"].choice(MessagingSettings.Storage.self),
            projectNumber: field["projectNumber"].stringIfPresent, projects: field["projects"].stringsIfPresent ?? [],
            ownerToken: field["ownerToken"].bool, reservedKeys: field["reservedKeys"].choice(MessagingSettings.ReservedKeys.self),
            collapseNotifications: field["collapseNotifications"].bool, uninstall: field["uninstall"].choice(MessagingSettings.Uninstall.self),
            inactiveAfterDays: field["inactiveAfterDays"].int, tokenExpiryDays: field["tokenExpiryDays"].int,
            historySeconds: field["historySeconds"].int,
            limits: MessagingSettings.Limits(
                payloadBytes: limits["payloadBytes"].int, topicPayloadBytes: limits["topicPayloadBytes"].int,
                pendingMessages: limits["pendingMessages"].int, collapseKeys: limits["collapseKeys"].int,
                unacknowledgedMessages: limits["unacknowledgedMessages"].int, topicsPerDevice: limits["topicsPerDevice"].int,
                devices: limits["devices"].int, connections: limits["connections"].int),
            quotas: MessagingSettings.Quotas(
                projectPerMinute: quotas["projectPerMinute"].int, devicePerMinute: quotas["devicePerMinute"].int,
                devicePerHour: quotas["devicePerHour"].int, subscriptionsPerSecond: quotas["subscriptionsPerSecond"].int,
                fanOuts: quotas["fanOuts"].int))
    }

    private mutating func google(_ field: Field) -> MessagingSettings.Google {
        MessagingSettings.Google(
            serviceAccount: file(field["serviceAccount"]), sendURL: field["sendUrl"].string, topicURL: field["topicUrl"].string,
            parallelism: field["parallelism"].int)
    }

    private func webPush(_ field: Field) -> MessagingSettings.WebPush? {
        guard field.isPresent else { return nil }
        return MessagingSettings.WebPush(subject: field["subject"].stringIfPresent ?? "", localEndpoints: field["localEndpoints"].bool)
    }

    private mutating func apns(_ field: Field) -> MessagingSettings.Apns? {
        guard field.isPresent, let key = file(field["key"]) else { return nil }
        return MessagingSettings.Apns(
            key: key, keyID: field["keyId"].stringIfPresent ?? "", teamID: field["teamId"].stringIfPresent ?? "",
            productionURL: field["productionUrl"].string, sandboxURL: field["sandboxUrl"].string)
    }
}
