import HearthBytes

/// The operation that a path names (spec auth 5). The verb follows the last colon, because ids of apps contain colons.
struct AppCheckPath: Equatable {
    enum Operation: Equatable {
        case keys
        /// A method of an app, such as `exchangeDebugToken`.
        case app(project: String, id: String, verb: String)
        case verify(project: String)
        case apps(project: String)
        case registration(project: String, app: String)
        case debugTokens(project: String, app: String)
        case debugToken(project: String, app: String, token: String)
        case unknown
    }

    let operation: Operation

    /// The names of the hosted service, as the first part of a path: that for Apple and Android, and that for the web.
    private static let hosts: [StaticString] = ["/firebaseappcheck.googleapis.com/", "/content-firebaseappcheck.googleapis.com/"]

    init(_ path: Span<UInt8>) { operation = Self.operation(path.string()) }

    /// Whether a path belongs to the protocol. Paths without the name of the hosted service belong to it only with its verbs.
    static func claims(_ path: Span<UInt8>) -> Bool {
        if hosts.contains(where: { path.starts(with: $0) }) { return true }
        guard path.starts(with: "/v1") else { return false }
        guard path.count <= 2048, case let operation = operation(path.string()), operation != .unknown else { return false }
        return true
    }

    private static func operation(_ path: String) -> Operation {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        if let first = parts.first, first == "firebaseappcheck.googleapis.com" || first == "content-firebaseappcheck.googleapis.com" {
            parts.removeFirst()
        }
        guard let version = parts.first, version == "v1" || version == "v1beta" else { return .unknown }
        parts.removeFirst()
        if parts == ["jwks"] { return .keys }
        guard parts.count >= 2, parts[0] == "projects", !parts[1].isEmpty else { return .unknown }
        if parts.count == 2 {
            guard parts[1].hasSuffix(":verifyAppCheckToken") else { return .unknown }
            return .verify(project: String(parts[1].dropLast(":verifyAppCheckToken".count)))
        }
        guard parts[2] == "apps" else { return .unknown }
        let (project, app) = (parts[1], parts.count > 3 ? decoded(parts[3]) : "")
        switch parts.count {
        case 3: return .apps(project: project)
        case 4:
            guard let colon = app.lastIndex(of: ":") else { return .unknown }
            let verb = String(app[app.index(after: colon)...])
            if verb.hasPrefix("exchange") || verb.hasPrefix("generate") { return .app(project: project, id: String(app[..<colon]), verb: verb) }
            return .registration(project: project, app: app)
        case 5 where parts[4] == "debugTokens": return .debugTokens(project: project, app: app)
        case 6 where parts[4] == "debugTokens": return .debugToken(project: project, app: app, token: parts[5])
        default: return .unknown
        }
    }

    /// Decodes the escaped colons that some HTTP clients write.
    private static func decoded(_ text: String) -> String {
        guard text.contains("%") else { return text }
        return text.split(separator: "%3A", omittingEmptySubsequences: false).joined(separator: ":").split(
            separator: "%3a", omittingEmptySubsequences: false
        ).joined(separator: ":")
    }
}

extension Span<UInt8> {
    fileprivate func starts(with prefix: StaticString) -> Bool {
        count >= prefix.utf8CodeUnitCount && extracting(0..<prefix.utf8CodeUnitCount).equals(prefix)
    }
}
