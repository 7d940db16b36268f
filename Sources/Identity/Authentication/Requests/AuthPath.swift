import HearthBytes
import HTTP

/// The parsed path of a request: an operation, and the project, tenant and object that it names.
struct AuthPath: Equatable {
    var operation: AuthOperation
    /// The project of an administrator's path; nil for paths of clients.
    var project: String?
    /// The tenant; empty if the path names none.
    var tenant = ""
    /// The object of an administrator's path, such as a tenant or a provider.
    var id: String?

    private static let prefixes: [StaticString] = [
        "/identitytoolkit.googleapis.com/", "/securetoken.googleapis.com/", "/www.googleapis.com/identitytoolkit/v3/relyingparty/",
        "/www.googleapis.com/robot/v1/metadata/x509/", "/www.googleapis.com/service_accounts/v1/jwk/", "/securetoken.google.com/",
        "/emulator/v1/", "/emulator/action",
    ]

    /// Original hosts, for clients whose requests are led here by DNS.
    private static let hosts = [
        "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com", "securetoken.google.com",
    ]

    /// Whether a path belongs to the protocol. Fast: asked for most requests of a host.
    static func claims(_ path: Span<UInt8>, host: Span<UInt8>) -> Bool {
        prefixes.contains { path.begins($0) } || isPage(path) || hosts.contains { host.equalsLowercased($0) }
    }

    /// Whether a path begins like that of a page for browsers.
    static func isPage(_ path: Span<UInt8>) -> Bool {
        let starts: [StaticString] = ["/__/auth/", "/emulator/auth/"]
        return starts.contains { path.begins($0) }
    }

    /// Parses a path that ``claims(_:host:)`` accepts.
    init(_ path: Span<UInt8>, host: Span<UInt8>) {
        var text = path.string()
        if !Self.prefixes.contains(where: { path.begins($0) }), let original = Self.hosts.first(where: { host.equalsLowercased($0) }) {
            text = "/\(original)\(text)"
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { FormText.decoded($0.utf8) }
        self.init(operation: .unknown)
        switch parts.first {
        case "identitytoolkit.googleapis.com" where parts.count > 2: parseToolkit(Array(parts[2...]))
        case "securetoken.googleapis.com" where parts.count == 3 && parts[2] == "token": operation = .token
        case "www.googleapis.com": parseGoogle(Array(parts.dropFirst()))
        case "securetoken.google.com" where parts.suffix(2) == [".well-known", "openid-configuration"]: operation = .discovery
        case "emulator": parseEmulator(Array(parts.dropFirst()))
        default: break
        }
    }

    private init(operation: AuthOperation) { self.operation = operation }

    /// The path of an administrator's operation on the project.
    init(_ operation: AuthOperation) { self.init(operation: operation) }

    /// Parses what follows the version.
    private mutating func parseToolkit(_ parts: [String]) {
        if parts.count == 1 || parts[0] == "accounts" {
            // The names of administrators' operations without a project, such as `tenants`, are no paths.
            let found = AuthOperation(rawValue: parts.joined(separator: "/")) ?? .unknown
            let isPlain = parts[0].hasPrefix("accounts:") || parts[0] == "accounts" && parts.count == 2
            let isOfProject: Bool =
                switch found {
                case .projects, .recaptchaParams, .recaptchaConfig, .passwordPolicy, .sessionCookieKeys: true
                default: false
                }
            operation = isPlain || isOfProject ? found : .unknown
            return
        }
        guard parts[0] == "projects", parts.count >= 2 else { return }
        if parts.count == 2 {
            let name = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard name.count == 2, !name[0].isEmpty else { return }
            project = name[0]
            operation = AdministratorPath.project[name[1]] ?? .unknown
            return
        }
        project = parts[1]
        var rest = Array(parts[2...])
        if rest[0] == "tenants", rest.count >= 2 {
            let name = rest[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            tenant = name[0]
            guard !tenant.isEmpty else { return }
            if rest.count == 2 {
                id = tenant
                operation = name.count == 1 ? .tenants : AdministratorPath.project[name[1]] ?? .unknown
                if name.count == 1 { tenant = "" }
                return
            }
            rest = Array(rest[2...])
        }
        operation = AuthOperation(rawValue: rest[0]) ?? .unknown
        switch operation {
        case .oauthProviders, .samlProviders, .standardProviders: id = rest.count == 2 ? rest[1] : nil
        default: if rest.count > 1 { operation = AuthOperation(rawValue: rest.joined(separator: "/")) ?? .unknown }
        }
    }

    private mutating func parseGoogle(_ parts: [String]) {
        switch parts.first {
        case "identitytoolkit" where parts.count == 4: operation = AuthOperation.legacy[parts[3]] ?? .unknown
        case "robot" where parts.last == Self.signer: operation = .certificates
        case "service_accounts" where parts.last == Self.signer: operation = .keys
        default: break
        }
    }

    private static let signer = "securetoken@system.gserviceaccount.com"

    private mutating func parseEmulator(_ parts: [String]) {
        if parts == ["action"] {
            operation = .emulatorAction
            return
        }
        guard parts.count >= 4, parts[0] == "v1", parts[1] == "projects" else { return }
        project = parts[2]
        var rest = Array(parts[3...])
        if rest[0] == "tenants", rest.count == 3 {
            tenant = rest[1]
            rest = [rest[2]]
        }
        guard rest.count == 1 else { return }
        operation = AdministratorPath.emulator[rest[0]] ?? .unknown
    }
}

/// The last parts of administrators' paths.
private enum AdministratorPath {
    static let project: [String: AuthOperation] = ["createSessionCookie": .createSessionCookie]
    static let emulator: [String: AuthOperation] = [
        "accounts": .emulatorAccounts, "config": .emulatorConfig, "oobCodes": .emulatorCodes, "verificationCodes": .emulatorMessages,
    ]
}

extension Span where Element == UInt8 {
    fileprivate func begins(_ start: StaticString) -> Bool {
        count >= start.utf8CodeUnitCount && extracting(0..<start.utf8CodeUnitCount).equals(start)
    }

    /// Whether these bytes are `text`, ignoring the case of letters, and a port after it.
    fileprivate func equalsLowercased(_ text: String) -> Bool {
        guard count >= text.utf8.count, count == text.utf8.count || self[text.utf8.count] == UInt8(ascii: ":") else { return false }
        for (index, byte) in text.utf8.enumerated() where self[index] != byte && self[index] | 0x20 != byte { return false }
        return true
    }
}
