extension Configuration {
    /// Settings that a running host applies; all others take effect at its next start.
    private static let takenOver: Set<String> = ["$schema", "plugins", "functions", "defaults", "watch"]

    /// The settings that differ from `other` and take effect only at the host's next start, for example `server.port`.
    public func settingsThatNeedRestart(since other: Configuration) -> [String] {
        let documents = [other, self].map { LocatedParser.parse(SourceText(file: $0.file, bytes: $0.document)).value?.members ?? [] }
        var names: [String] = []
        for name in Self.names(documents[0], documents[1]) where !Self.takenOver.contains(name) {
            let (before, after) = (Self.member(name, of: documents[0]), Self.member(name, of: documents[1]))
            guard !Self.isSame(before, after) else { continue }
            guard let left = before.map(\.members) ?? [], let right = after.map(\.members) ?? [] else {
                names.append(name)
                continue
            }
            for key in Self.names(left, right) where !Self.isSame(Self.member(key, of: left), Self.member(key, of: right)) {
                if name != "database" || key != "rules" { names.append("\(name).\(key)") }
            }
        }
        return names
    }

    /// The folders to look for product libraries in, the preferred one first.
    public var productFolders: [String] {
        let folders = ["\(directory)/.build/release", "\(directory)/.build/debug"]
        return watch.configuration == .release ? folders : folders.reversed()
    }

    /// The environment files of plugins; they may not exist.
    public var environmentFiles: Set<String> {
        let names = [".env", ".env.\(project)", ".env.local", ".secret.local"]
        return Set(plugins.flatMap { plugin in names.map { FileProbe.join(plugin.environmentDirectory, $0) } })
    }

    private static func names(_ left: [LocatedMember], _ right: [LocatedMember]) -> [String] {
        (left + right).map(\.key).withoutRepetition
    }

    private static func member(_ name: String, of members: [LocatedMember]) -> LocatedValue? { members.last { $0.key == name }?.value }

    private static func isSame(_ left: LocatedValue?, _ right: LocatedValue?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.isSame(as: right)
    }
}

/// Options of functions from elsewhere than this host's `functions.json`: from a deployment, or from an older version.
public struct OptionsOverlay: Sendable {
    /// The file name in messages.
    public var source: String
    /// The default region of functions.
    public var region: String
    /// The `defaults` object, as JSON.
    public var defaults: String
    /// Objects as under `functions`, as JSON, by function name.
    public var functions: [String: String]

    /// Overrides, unchecked until ``Configuration/overlaid(with:)``.
    public init(source: String, region: String, defaults: String, functions: [String: String]) {
        self.source = source
        self.region = region
        self.defaults = defaults
        self.functions = functions
    }
}

extension Configuration {
    /// This configuration with another region, other defaults and other options of functions.
    ///
    /// - Throws: all errors in them; the problems have no line.
    public func overlaid(with overlay: OptionsOverlay) throws(ConfigurationErrors) -> Configuration {
        let functions = overlay.functions.sorted { $0.key < $1.key }.map { "\($0.key.jsonLiteral):\($0.value)" }.joined(separator: ",")
        let document =
            "{\"project\":\(project.jsonLiteral),\"region\":\(overlay.region.jsonLiteral),\"defaults\":\(overlay.defaults),"
            + "\"functions\":{\(functions)}}"
        let parsed: Configuration
        do {
            parsed = try Configuration(parsing: Array(document.utf8), file: overlay.source, mode: mode)
        } catch {
            throw ConfigurationErrors(error.problems.map { Problem(file: $0.file, path: $0.path, message: $0.message) })
        }
        var configuration = self
        configuration.file = overlay.source
        configuration.region = parsed.region
        configuration.defaults = parsed.defaults
        configuration.functions = parsed.functions.mapValues(\.withoutPlaces)
        return configuration
    }
}

extension FunctionOverrides {
    /// The same without positions in a file.
    fileprivate var withoutPlaces: FunctionOverrides {
        var overrides = self
        overrides.positions = positions.mapValues { _ in nil }
        return overrides
    }
}
