/// Push messages.
public struct MessagingSettings: Sendable, Equatable {
    /// What carries messages to devices.
    public enum Backend: String, Sendable {
        /// This host itself, to which devices connect.
        case embedded
        /// Firebase Cloud Messaging.
        case google
    }

    /// Where devices, topics and waiting messages are kept.
    public enum Storage: String, Sendable {
        /// In a file of the data folder.
        case sqlite
        /// In memory, until the host stops.
        case memory
    }

    /// Which keys of a message's data are refused (spec messaging 1.9).
    public enum ReservedKeys: String, Sendable {
        /// All that the documentation forbids.
        case strict
        /// Those that the hosted service really refuses.
        case wire
    }

    /// When a sender finds out that an application was uninstalled.
    public enum Uninstall: String, Sendable {
        /// When a message could not be delivered, as with the hosted service.
        case lazy
        /// At once.
        case eager
    }

    /// The host itself, unless the file says otherwise.
    public var backend: Backend
    /// For ``Backend/google`` only.
    public var google: Google
    /// Nil where browsers' push services are not used.
    public var webPush: WebPush?
    /// Nil where Apple's push service is not used.
    public var apns: Apns?
    /// File of the authorities that these services are trusted by; nil for the system's.
    public var certificateAuthority: String?
    /// Files, unless the file says otherwise.
    public var storage: Storage
    /// Nil where it is to be made from the project's id.
    public var projectNumber: String?
    /// Further projects.
    public var projects: [String]
    /// Whether `Bearer owner` is the administrator's in development mode.
    public var ownerToken: Bool
    /// Strict, unless the file says otherwise.
    public var reservedKeys: ReservedKeys
    /// Whether a notification replaces those of the same application that still wait for an Android device.
    public var collapseNotifications: Bool
    /// Lazy, unless the file says otherwise.
    public var uninstall: Uninstall
    /// Days without a connection after which nothing is kept for a device; 0 is never.
    public var inactiveAfterDays: Int
    /// Days without a connection after which a registration ends.
    public var tokenExpiryDays: Int
    /// How long it is remembered what became of a message that waits for nobody any more.
    public var historySeconds: Int
    /// How much there may be.
    public var limits: Limits
    /// How often things may happen.
    public var quotas: Quotas

    /// The FCM HTTP v1 API.
    public struct Google: Sendable, Equatable {
        /// Nil for the file that the environment names.
        public var serviceAccount: String?
        /// Origin of the requests that send.
        public var sendURL: String
        /// Origin of the requests that change subscriptions.
        public var topicURL: String
        /// Requests under way at one time, 1 to 1,000.
        public var parallelism: Int
    }

    /// Hands messages to the push services of browsers (RFC 8030).
    public struct WebPush: Sendable, Equatable {
        /// Whom a push service can write to: a `mailto:` or `https:` address (RFC 8292, section 2.1).
        public var subject: String
        /// Private networks that names of push services may lead to: addresses, or ranges such as `10.0.0.0/8`.
        public var allowedNetworks: [String]
        /// Whether subscriptions may name addresses of http and of private networks: who registers a browser then makes the host send there.
        public var localEndpoints: Bool
    }

    /// Hands messages to Apple's push service.
    public struct Apns: Sendable, Equatable {
        /// Path of the `.p8` file.
        public var key: String
        /// Ten characters.
        public var keyID: String
        /// Of the developer's team, ten characters.
        public var teamID: String
        /// Where messages for devices of the production environment go.
        public var productionURL: String
        /// Where messages for devices of the development environment go.
        public var sandboxURL: String
    }

    /// How much there may be at one time.
    public struct Limits: Sendable, Equatable {
        /// Of a message's data and notification (spec messaging 1.10).
        public var payloadBytes: Int
        /// The same for topics and conditions.
        public var topicPayloadBytes: Int
        /// Messages without a collapse key that wait for a device; one more discards them all, and the device is told.
        public var pendingMessages: Int
        /// Collapse keys of which a message waits for a device.
        public var collapseKeys: Int
        /// What a connected device is sent before it acknowledges any.
        public var unacknowledgedMessages: Int
        /// Topics that one device is subscribed to.
        public var topicsPerDevice: Int
        /// Devices that are registered.
        public var devices: Int
        /// The most anonymously registered devices that have neither come back nor been named by a sender.
        public var newDevices: Int
        /// Devices that are connected.
        public var connections: Int
    }

    /// Rates; 0 is no limit.
    public struct Quotas: Sendable, Equatable {
        /// Sends of one project.
        public var projectPerMinute: Int
        /// Messages for one device.
        public var devicePerMinute: Int
        /// Messages for one device.
        public var devicePerHour: Int
        /// Subscriptions of one project that are changed.
        public var subscriptionsPerSecond: Int
        /// Messages to topics and conditions that are being distributed at one time.
        public var fanOuts: Int
        /// Calls of devices that anybody may make: they register, renew, or change their topics.
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
            serviceAccount: file(field["serviceAccount"]), sendURL: field["sendUrl"].string, topicURL: field["topicUrl"].string,
            parallelism: field["parallelism"].int)
    }

    private func webPush(_ field: Field) -> MessagingSettings.WebPush? {
        guard field.isPresent else { return nil }
        return MessagingSettings.WebPush(
            subject: field["subject"].stringIfPresent ?? "", allowedNetworks: field["allowedNetworks"].stringsIfPresent ?? [],
            localEndpoints: field["localEndpoints"].bool)
    }

    private mutating func apns(_ field: Field) -> MessagingSettings.Apns? {
        guard field.isPresent, let key = file(field["key"]) else { return nil }
        return MessagingSettings.Apns(
            key: key, keyID: field["keyId"].stringIfPresent ?? "", teamID: field["teamId"].stringIfPresent ?? "",
            productionURL: field["productionUrl"].string, sandboxURL: field["sandboxUrl"].string)
    }
}
