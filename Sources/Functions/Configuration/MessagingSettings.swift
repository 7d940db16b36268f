/// Push messages.
public struct MessagingSettings: Sendable, Equatable {
    /// The service that delivers messages to devices.
    public enum Backend: String, Sendable {
        /// This host, which devices connect to.
        case embedded
        /// Firebase Cloud Messaging.
        case google
    }

    /// The storage of devices, topics and waiting messages.
    public enum Storage: String, Sendable {
        /// In a file of the data directory.
        case sqlite
        /// In memory, until the host stops.
        case memory
    }

    /// The keys of a message's data that are refused (spec messaging 1.9).
    public enum ReservedKeys: String, Sendable {
        /// All keys that the documentation forbids.
        case strict
        /// The keys that the hosted service actually refuses.
        case wire
    }

    /// When a sender can tell that an application was uninstalled.
    public enum Uninstall: String, Sendable {
        /// After a failed delivery, as in the hosted service.
        case lazy
        /// At once.
        case eager
    }

    /// The host itself by default.
    public var backend: Backend
    /// For ``Backend/google`` only.
    public var google: Google
    /// Nil if push services of browsers are not used.
    public var webPush: WebPush?
    /// Nil if Apple's push service is not used.
    public var apns: Apns?
    /// File of the certificate authorities for these services; nil for those of the system.
    public var certificateAuthority: String?
    /// Files by default.
    public var storage: Storage
    /// Nil for a number derived from the project id.
    public var projectNumber: String?
    /// Further projects.
    public var projects: [String]
    /// Whether `Bearer owner` grants administrator access in development mode.
    public var ownerToken: Bool
    /// Strict by default.
    public var reservedKeys: ReservedKeys
    /// Whether a notification replaces waiting ones of the same application for an Android device.
    public var collapseNotifications: Bool
    /// Lazy by default.
    public var uninstall: Uninstall
    /// Days without a connection after which no messages are kept for a device; 0 for never.
    public var inactiveAfterDays: Int
    /// Days without a connection after which a registration ends.
    public var tokenExpiryDays: Int
    /// How long the outcome of a finished message is kept.
    public var historySeconds: Int
    /// Limits of amounts.
    public var limits: Limits
    /// Limits of rates.
    public var quotas: Quotas

    /// The FCM HTTP v1 API.
    public struct Google: Sendable, Equatable {
        /// The service account file; nil for the one that the environment names.
        public var serviceAccount: String?
        /// Base URL of send requests.
        public var sendURL: String
        /// Base URL of requests that change subscriptions.
        public var topicURL: String
        /// Concurrent requests, 1 to 1,000.
        public var parallelism: Int
    }

    /// Forwards messages to the push services of browsers (RFC 8030).
    public struct WebPush: Sendable, Equatable {
        /// The contact for push services: a `mailto:` or `https:` URL (RFC 8292, section 2.1).
        public var subject: String
        /// Private networks that push services may be in: addresses, or ranges such as `10.0.0.0/8`.
        public var allowedNetworks: [String]
        /// Whether subscriptions may name URLs with http and addresses of private networks, to which the host then sends requests.
        public var localEndpoints: Bool
    }

    /// Forwards messages to Apple's push service.
    public struct Apns: Sendable, Equatable {
        /// Path of the `.p8` file.
        public var key: String
        /// Key id, ten characters.
        public var keyID: String
        /// Team id, ten characters.
        public var teamID: String
        /// URL for devices of the production environment.
        public var productionURL: String
        /// URL for devices of the development environment.
        public var sandboxURL: String
    }

    /// Limits of amounts.
    public struct Limits: Sendable, Equatable {
        /// Bytes of a message's data and notification (spec messaging 1.10).
        public var payloadBytes: Int
        /// The same for topics and conditions.
        public var topicPayloadBytes: Int
        /// Waiting messages without a collapse key for a device; one more discards them all, and the device is notified.
        public var pendingMessages: Int
        /// Collapse keys with a waiting message for a device.
        public var collapseKeys: Int
        /// Messages sent to a connected device before it acknowledges any.
        public var unacknowledgedMessages: Int
        /// Topics of one device.
        public var topicsPerDevice: Int
        /// Registered devices.
        public var devices: Int
        /// Devices registered anonymously that have neither returned nor been named by a sender.
        public var newDevices: Int
        /// Connected devices.
        public var connections: Int
    }

    /// Rates; 0 for no limit.
    public struct Quotas: Sendable, Equatable {
        /// Sends of one project.
        public var projectPerMinute: Int
        /// Messages for one device.
        public var devicePerMinute: Int
        /// Messages for one device.
        public var devicePerHour: Int
        /// Subscriptions of one project that are changed.
        public var subscriptionsPerSecond: Int
        /// Messages to topics and conditions that are being distributed at the same time.
        public var fanOuts: Int
        /// Anonymous calls of devices: registering, renewing, changing topics.
        public var anonymousPerMinute: Int
        /// The same, from one address.
        public var anonymousPerAddressPerMinute: Int
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
                devices: limits["devices"].int, newDevices: limits["newDevices"].int, connections: limits["connections"].int),
            quotas: MessagingSettings.Quotas(
                projectPerMinute: quotas["projectPerMinute"].int, devicePerMinute: quotas["devicePerMinute"].int,
                devicePerHour: quotas["devicePerHour"].int, subscriptionsPerSecond: quotas["subscriptionsPerSecond"].int,
                fanOuts: quotas["fanOuts"].int, anonymousPerMinute: quotas["anonymousPerMinute"].int,
                anonymousPerAddressPerMinute: quotas["anonymousPerAddressPerMinute"].int))
    }

    private mutating func google(_ field: Field) -> MessagingSettings.Google {
        MessagingSettings.Google(
            serviceAccount: secretFile(field["serviceAccount"]), sendURL: field["sendUrl"].string, topicURL: field["topicUrl"].string,
            parallelism: field["parallelism"].int)
    }

    private func webPush(_ field: Field) -> MessagingSettings.WebPush? {
        guard field.isPresent else { return nil }
        return MessagingSettings.WebPush(
            subject: field["subject"].stringIfPresent ?? "", allowedNetworks: field["allowedNetworks"].stringsIfPresent ?? [],
            localEndpoints: field["localEndpoints"].bool)
    }

    private mutating func apns(_ field: Field) -> MessagingSettings.Apns? {
        guard field.isPresent, let key = secretFile(field["key"]) else { return nil }
        return MessagingSettings.Apns(
            key: key, keyID: field["keyId"].stringIfPresent ?? "", teamID: field["teamId"].stringIfPresent ?? "",
            productionURL: field["productionUrl"].string, sandboxURL: field["sandboxUrl"].string)
    }
}
