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
