extension Configuration {
    /// Settings that a running host takes over; all others count from its next start.
    private static let takenOver: Set<String> = ["$schema", "plugins", "functions", "defaults", "watch"]

    /// The settings that differ from those of `other` and count from the host's next start only, for example `server.port`.
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

    /// Where the libraries of products are looked for, first the one that is wanted.
    public var productFolders: [String] {
        let folders = ["\(directory)/.build/release", "\(directory)/.build/debug"]
        return watch.configuration == .release ? folders : folders.reversed()
    }

    /// The files that the environment of plugins is read from; they need not exist.
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

/// Options of functions that do not come from this host's `functions.json`: what a deployment brings, or an older version kept.
public struct OptionsOverlay: Sendable {
    /// What messages name as the file.
    public var source: String
    /// The region of functions that name none.
    public var region: String
    /// The `defaults` object, as JSON.
    public var defaults: String
    /// Objects as under `functions`, as JSON, by the functions' names.
    public var functions: [String: String]

    /// Overrides from elsewhere; nothing is checked before ``Configuration/overlaid(with:)``.
    public init(source: String, region: String, defaults: String, functions: [String: String]) {
        self.source = source
        self.region = region
        self.defaults = defaults
        self.functions = functions
    }
}

extension Configuration {
    /// This configuration, with region, defaults and options of functions from elsewhere in the place of its own.
    ///
    /// - Throws: everything that is wrong with them; problems have no line, since no person has written one.
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
    /// The same, as if it stood in no file.
    fileprivate var withoutPlaces: FunctionOverrides {
        var overrides = self
        overrides.positions = positions.mapValues { _ in nil }
        return overrides
    }
}
