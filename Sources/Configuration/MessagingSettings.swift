/// Push messages.
public struct MessagingSettings: Sendable, Equatable {
    public enum Backend: String, Sendable {
        case embedded
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
    func messaging(_ field: Field) -> MessagingSettings {
        let (limits, quotas) = (field["limits"], field["quotas"])
        return MessagingSettings(
            backend: field["backend"].choice(MessagingSettings.Backend.self), storage: field["storage"].choice(MessagingSettings.Storage.self),
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
}
