import Configuration
import EventLoop
import HostCore
import HTTP
import Logging
import Messaging

extension MessagingService {
    /// The messaging service of a host.
    ///
    /// - Parameters:
    ///   - directory: the existing folder for its store and keys.
    ///   - developmentAccess: the requests in which `owner` is accepted; nil in production mode.
    ///   - isSuspended: whether another process still has the store open.
    ///   - loop: the loop for connections to other services.
    convenience init(
        _ configuration: Configuration, directory: String, adminToken: [UInt8], developmentAccess: DevelopmentAccess?, isSuspended: Bool,
        loop: EventLoop, log: Logger
    ) throws(HostStartError) {
        let settings = configuration.messaging
        let path = settings.storage == .memory ? ":memory:" : "\(directory)/messaging.sqlite"
        let clock = MessagingClock()
        let client = HTTPClient(loop: loop, certificateAuthorityFile: settings.certificateAuthority)
        let services = PushServices(settings, client: client, loop: loop, clock: clock, log: log)
        let key = try services.vapidKey(in: directory)
        let backend = try services.backend()
        let forwarders = try services.forwarders(key)
        do throws(LoopError) {
            try self.init(
                settings: Settings(configuration, adminToken: adminToken, developmentAccess: developmentAccess), path: path, clock: clock,
                backend: backend, vapidKey: key, isSuspended: isSuspended, log: log)
        } catch {
            throw HostStartError("the messaging service cannot be started: \(error)")
        }
        for forwarder in forwarders { embedded.use(forwarder) }
    }
}

extension MessagingService.Settings {
    init(_ configuration: Configuration, adminToken: [UInt8], developmentAccess: DevelopmentAccess?) {
        let settings = configuration.messaging
        let number = settings.projectNumber ?? configuration.appCheck.projectNumber ?? MessagingProject.number(for: configuration.project)
        let others = settings.projects.filter { $0 != configuration.project }
        self.init(
            projects: [MessagingProject(id: configuration.project, number: number)]
                + others.map { MessagingProject(id: $0, number: MessagingProject.number(for: $0)) })
        isDevelopment = configuration.mode == .development
        ownerAccess = settings.ownerToken ? developmentAccess : nil
        isTLS = configuration.server.tls != nil
        self.adminToken = adminToken
        parser.payloadBytesMax = settings.limits.payloadBytes
        parser.topicPayloadBytesMax = settings.limits.topicPayloadBytes
        parser.reservedKeys = settings.reservedKeys == .strict ? .strict : .wire
        embedded = EmbeddedSettings(settings)
    }
}

extension EmbeddedSettings {
    init(_ settings: MessagingSettings) {
        self.init()
        let limits = settings.limits
        pendingMax = limits.pendingMessages
        collapseKeysMax = limits.collapseKeys
        unacknowledgedMax = limits.unacknowledgedMessages
        topicsPerDeviceMax = limits.topicsPerDevice
        devicesMax = limits.devices
        newDevicesMax = limits.newDevices
        connectionsMax = limits.connections
        collapsesNotifications = settings.collapseNotifications
        findsUninstalledAtOnce = settings.uninstall == .eager
        inactiveAfterDays = settings.inactiveAfterDays
        tokenExpiryDays = settings.tokenExpiryDays
        historySeconds = settings.historySeconds
        quotas.projectPerMinute = settings.quotas.projectPerMinute
        quotas.devicePerMinute = settings.quotas.devicePerMinute
        quotas.devicePerHour = settings.quotas.devicePerHour
        quotas.subscriptionsPerSecond = settings.quotas.subscriptionsPerSecond
        quotas.fanOuts = settings.quotas.fanOuts
        quotas.anonymousPerMinute = settings.quotas.anonymousPerMinute
        quotas.anonymousPerAddressPerMinute = settings.quotas.anonymousPerAddressPerMinute
    }
}
