import Configuration
import EventLoop
import Files
import Glibc
import HostCore
import HTTP
import Logging
import Messaging

/// Creates the back ends for other messaging services from the configuration.
struct PushServices {
    private let settings: MessagingSettings
    private let client: HTTPClient
    private let loop: EventLoop
    private let log: Logger
    private let now: @Sendable () -> Int64

    init(_ settings: MessagingSettings, client: HTTPClient, loop: EventLoop, clock: MessagingClock, log: Logger) {
        self.settings = settings
        self.loop = loop
        self.client = client
        self.log = log
        now = { clock.now }
    }

    /// The back end that sends instead of the host; nil if the host sends.
    func backend() throws(HostStartError) -> (any MessagingBackend)? {
        guard settings.backend == .google else { return nil }
        let google = settings.google
        guard let file = google.serviceAccount ?? Self.variable("GOOGLE_APPLICATION_CREDENTIALS") else {
            throw HostStartError(
                "messaging.backend is google, which needs a service account: name its key file in messaging.google.serviceAccount or in the "
                    + "environment variable GOOGLE_APPLICATION_CREDENTIALS")
        }
        let text = try Self.contents(of: file)
        let key: ServiceAccountKey
        do throws(ServiceAccountKey.Problem) {
            key = try ServiceAccountKey(parsing: text, name: file)
        } catch {
            throw HostStartError("\(error)")
        }
        var sending = GoogleBackend.Settings()
        sending.sendURL = google.sendURL
        sending.topicURL = google.topicURL
        sending.parallelism = google.parallelism
        return GoogleBackend(key: key, client: client, settings: sending, log: log, now: now)
    }

    /// The host's key for the push services of browsers. Created at the first start.
    func vapidKey(in directory: String) throws(HostStartError) -> VapidKey? {
        guard let webPush = settings.webPush else { return nil }
        do throws(VapidKey.Problem) {
            return try VapidKey(file: "\(directory)/web-push-key.pem", subject: webPush.subject)
        } catch {
            throw HostStartError("\(error)")
        }
    }

    /// The forwarders of the host's own back end.
    func forwarders(_ key: VapidKey?) throws(HostStartError) -> [any PushForwarder] {
        var forwarders: [any PushForwarder] = []
        if let key, let webPush = settings.webPush {
            let networks = try NetworkRange.list(webPush.allowedNetworks, of: "messaging.webPush.allowedNetworks")
            forwarders.append(
                WebPushForwarder(
                    client: webPushClient(webPush, networks), key: key, allowsLocal: webPush.localEndpoints, allowsPrivateNames: !networks.isEmpty,
                    log: log, now: now))
        }
        if let apns = settings.apns {
            let pem = String(decoding: try Self.contents(of: apns.key), as: UTF8.self)
            do throws(ApnsKey.Problem) {
                let key = try ApnsKey(pem: pem, keyID: apns.keyID, teamID: apns.teamID)
                let hosts = ApnsForwarder.Hosts(production: apns.productionURL, sandbox: apns.sandboxURL)
                forwarders.append(ApnsForwarder(client: client, key: key, hosts: hosts, log: log, now: now))
            } catch {
                throw HostStartError("\(apns.key): \(error)")
            }
        }
        return forwarders
    }

    /// A separate client: registrations choose the hosts that it connects to, so it must not share connections with other clients.
    private func webPushClient(_ webPush: MessagingSettings.WebPush, _ networks: [NetworkRange]) -> HTTPClient {
        let admits: AddressRule = { address in address.isPublic || networks.contains { $0.contains(address) } }
        return HTTPClient(
            loop: loop, certificateAuthorityFile: settings.certificateAuthority, admits: webPush.localEndpoints ? nil : admits)
    }

    private static func contents(of file: String) throws(HostStartError) -> [UInt8] {
        do throws(FileFailure) {
            return try WholeFile.read(file, sizeBytesMax: 1 << 20)
        } catch {
            throw HostStartError("\(file) \(error)")
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
