import Configuration
import Deployment
import EventLoop
import Files
import FunctionWorker
import Glibc
import HostCore
import PluginBuild
import RealtimeDatabase
import Rules

/// The files that the configuration names: plugins, rules, certificate; and the tools that build plugins.
extension HostExamination {
    /// A function with the plugin that has it.
    typealias PluginFunction = (plugin: String, name: String, options: FunctionOptions)

    /// The days before the end of a certificate at which the warning begins.
    private static let certificateDays = 14

    mutating func examinePlugins(_ configuration: Configuration) -> [PluginFunction] {
        let check = "plugins"
        var functions: [PluginFunction] = []
        for plugin in configuration.plugins {
            do throws(PluginRefusal) {
                let examined = try PluginExamination(plugin, in: configuration, program: subject.program)
                for warning in examined.warnings { warn(check, warning) }
                functions += examined.functions.map { (plugin.name, $0.declaration.name, $0.options) }
                ok(check, "\(plugin.name) can be loaded, with \(examined.functions.count) functions")
            } catch {
                fail(check, "\(plugin.name): \(error)")
            }
        }
        if configuration.plugins.isEmpty {
            ok(check, "\(subject.file) names none; functions come with hearth deploy")
        } else if !findings.contains(where: { $0.check == check && $0.severity == .error }) {
            for problem in configuration.warnings(forLoaded: functions.map(\.name)) { warn(check, "\(problem)") }
        }
        return functions
    }

    /// Checks the compiler, if the configuration has something to build.
    mutating func examineTools() {
        let check = "build tools"
        let products = (configuration?.plugins ?? []).contains { plugin in if case .product = plugin.source { true } else { false } }
        guard products, subject.mode == .development else {
            return ok(check, "nothing is built on this machine: no product of a package is named, or this is production mode")
        }
        guard let toolchain = Toolchain.find() else { return fail(check, "there is no swift: \(Toolchain.advice)") }
        guard let version = toolchain.version() else { return fail(check, "\(toolchain.swift) does not run; \(Toolchain.advice)") }
        let text = version.map(String.init).joined(separator: ".")
        if version.lexicographicallyPrecedes(Toolchain.versionMin) { fail(check, "\(toolchain.swift) is version \(text); \(Toolchain.advice)") }
        var missing: [String] = []
        if Self.program("git") == nil { missing.append("git") }
        if access("/usr/include/features.h", R_OK) != 0 { missing.append("libc6-dev") }
        if Folder.names(in: "/usr/include/c++").isEmpty { missing.append("libstdc++-12-dev") }
        if !missing.isEmpty { fail(check, "packages for building are missing: apt install \(missing.joined(separator: " "))") }
        if toolchain.symbolizer == nil {
            warn(check, "\(toolchain.swift) has no llvm-symbolizer beside it, so crash reports lack files and lines; install the whole toolchain")
        }
        settle(check, "\(toolchain.swift) is version \(text)")
    }

    private static func program(_ name: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    mutating func examineRules(_ configuration: Configuration) {
        let check = "rules"
        guard let path = configuration.database.rules else {
            return warn(check, "no rules file is named, so clients can neither read nor write; name one as database.rules")
        }
        do throws(RulesFileFailure) {
            _ = try RulesFile(reading: path, configuration.database)
            ok(check, "\(path) is valid")
        } catch {
            switch error {
            case .unreadable(let reason): fail(check, "\(path) cannot be read (\(reason)); correct database.rules, or the rights of the file")
            case .wrong(let error): fail(check, "\(path):\(error)")
            }
        }
    }

    mutating func examineCertificate(_ configuration: Configuration) {
        let check = "certificate"
        guard let tls = configuration.server.tls else { return }
        let context: TLSContext
        do throws(TLSError) {
            context = try TLSContext(certificateFile: tls.certificate, keyFile: tls.key)
        } catch {
            return fail(check, "\(error); correct server.tls, or the rights of the file")
        }
        var status = stat()
        if stat(tls.key, &status) == 0, status.st_mode & 0o007 != 0 {
            warn(check, "every user of this machine can read \(tls.key): chmod o= \(tls.key)")
        }
        guard let validity = context.validity else { return warn(check, "the dates of \(tls.certificate) cannot be read") }
        let now = Glibc.time(nil)
        let days = (validity.upperBound - now) / 86_400
        if now > validity.upperBound {
            fail(check, "\(tls.certificate) has expired; renew it: the host uses the new one without a restart")
        } else if now < validity.lowerBound {
            fail(check, "\(tls.certificate) is not valid yet; check the clock of this machine, or use another certificate")
        } else if days < Self.certificateDays {
            warn(check, "\(tls.certificate) ends in \(days) days; renew it: the host uses the new one without a restart")
        }
        settle(check, "\(tls.certificate) matches its key, and ends in \(days) days")
    }
}
