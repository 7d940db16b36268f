import CLinux
import Configuration
import EventLoop
import Files
import Glibc
import HTTP

/// Settings that are fine for development and dangerous in production.
extension HostExamination {
    private static let tokenCharactersMin = 32

    mutating func examineProduction(_ configuration: Configuration, _ functions: [PluginFunction]) {
        let check = "production"
        if let bytes = try? WholeFile.read("\(subject.dataDirectory)/admin-token", sizeBytesMax: 1024) {
            let count = bytes.count { $0 > 32 }
            if count < Self.tokenCharactersMin {
                fail(check, "the administrator's token has \(count) characters and can be guessed: remove admin-token, and the next start makes one")
            }
        }
        examineExposure(configuration)
        let callables = functions.filter { !$0.options.enforceAppCheck }
        if !configuration.database.enforceAppCheck, configuration.appExchange.enforceOnAuth != "ENFORCE", callables.count == functions.count {
            warn(
                check, "App Check is off everywhere, so any program can use the host as your apps do: set enforceAppCheck of functions, "
                    + "database.enforceAppCheck or appCheck.enforceOnAuth")
        }
        examineSignIn(configuration.identity)
        if configuration.database.storage == .memory { warn(check, "database.storage is memory: the data are lost when the host stops; use sqlite") }
        examineSecretFiles(configuration)
        settle(check, "the settings are those of a host that others reach")
    }

    private mutating func examineExposure(_ configuration: Configuration) {
        let host = subject.host ?? configuration.server.host
        guard !LoopbackName.matches(host), configuration.server.tls == nil, configuration.server.trustedProxies.isEmpty else { return }
        warn(
            "production", "other machines reach the host without TLS, and read tokens and data on the way: set server.tls, or listen on 127.0.0.1 "
                + "behind a proxy named in server.trustedProxies")
    }

    private mutating func examineSignIn(_ identity: IdentitySettings) {
        let check = "production"
        if identity.allowsPassword || identity.allowsEmailLink, identity.mail == nil {
            warn(check, "sign-in with e-mail is on, and no mail can be sent: configure auth.mail, or nobody can reset a password")
        }
        if identity.allowsPhone, identity.texts == nil {
            warn(check, "sign-in with phone numbers is on, and no text message can be sent: configure auth.texts")
        }
        if identity.hasTestHooks { warn(check, "auth.testHooks is on, so the administrator can read the codes of users: turn it off") }
    }
}
