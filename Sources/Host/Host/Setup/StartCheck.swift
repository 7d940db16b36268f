import AccountNotices
import AppCheck
import Authentication
import Configuration
import EventLoop
import HostCore
import HTTP
import IdentityProviders
import Logging
import Messaging
import Telemetry

/// Reads what the parts of a host read from the configuration when they start, and throws it away, for `serve --check`.
enum StartCheck {
    /// - Throws: `HostStartError` for the first secret, key or address that cannot be used.
    static func require(_ configuration: Configuration) throws(HostStartError) {
        _ = try ProviderSettings(configuration)
        _ = try AuthenticationSettings(configuration, adminToken: [], developmentAccess: nil)
        _ = try RecaptchaSettings(phonesOf: configuration)
        _ = try NoticeTemplates(configuration)
        if let mail = configuration.identity.mail { _ = try MailSettings(mail, applicationName: configuration.project) }
        if let texts = configuration.identity.texts { _ = try TextSettings(texts) }
        let loop: EventLoop
        do throws(LoopError) { loop = try EventLoop() } catch { throw HostStartError("the host cannot start: \(error)") }
        let (client, log) = (HTTPClient(loop: loop), Logger(label: "check") { _ in SwiftLogNoOpLogHandler() })
        _ = try AppCheckSettings(configuration, client: client, log: log)
        let services = PushServices(configuration.messaging, client: client, loop: loop, clock: MessagingClock(), log: log)
        _ = try services.backend()
        _ = try services.forwarders(nil)
        if let telemetry = configuration.telemetry { _ = try TelemetrySettings(telemetry, project: configuration.project) }
        guard let tls = configuration.server.tls else { return }
        do throws(TLSError) {
            _ = try TLSContext(certificateFile: tls.certificate, keyFile: tls.key)
        } catch {
            throw HostStartError("TLS cannot be served: \(error)")
        }
    }
}
