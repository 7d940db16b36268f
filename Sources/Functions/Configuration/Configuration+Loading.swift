import HearthBytes
import Files

extension Configuration {
    /// Reads and checks `functions.json`.
    ///
    /// - Parameter isBeforeBuild: whether the libraries of plugins may be missing, because they are not built yet.
    /// - Throws: all errors of the file, in the order of its lines.
    public static func load(file: String, mode: Mode, isBeforeBuild: Bool = false) throws(ConfigurationErrors) -> Configuration {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try WholeFile.read(file, sizeBytesMax: LocatedParser.sizeBytesMax)
        } catch {
            let advice = error.isMissing ? "; `hearth init` makes one, --config names another" : ""
            throw ConfigurationErrors([Problem(file: file, message: "\(error)\(advice)")])
        }
        return try Configuration(parsing: bytes, file: file, mode: mode, isBeforeBuild: isBeforeBuild)
    }

    /// Checks a document.
    ///
    /// - Parameter file: its name for messages; relative paths start at its folder.
    public init(parsing bytes: [UInt8], file: String, mode: Mode, isBeforeBuild: Bool = false) throws(ConfigurationErrors) {
        let text = SourceText(file: file, bytes: bytes)
        let (document, syntaxProblems) = LocatedParser.parse(text)
        guard let document else { throw ConfigurationErrors(syntaxProblems) }
        let violations = SchemaValidator.validate(document, against: .functions, text: text)
        var reader = ConfigurationReader(
            text: text, root: Field(schema: .functions, root: document), violations: violations, isBeforeBuild: isBeforeBuild)
        let configuration = reader.configuration(mode: mode)
        let problems = (syntaxProblems + reader.problems).inOrder
        guard problems.isEmpty else { throw ConfigurationErrors(problems) }
        self = configuration
        warnings = reader.warnings.inOrder
        self.document = bytes
    }

    /// Warnings about functions that `functions.json` names but no plugin contains, once all plugins are known.
    public func warnings(forLoaded names: some Collection<String>) -> [Problem] {
        functions.filter { !names.contains($0.key) }.map { name, overrides in
            let near = Spelling.nearest(to: name, among: Array(names)).map { "; did you mean \($0.quoted)?" } ?? ""
            let path = DocumentPath().appending(key: "functions").appending(key: name)
            let message = "no plugin has a function of this name" + near
            return Problem(file: file, position: overrides.positions[""] ?? nil, path: path.description, message: message)
        }.inOrder
    }
}

extension [Problem] {
    /// Sorted by line and column; problems without a position come first.
    var inOrder: [Problem] {
        let start = Position(line: 0, column: 0)
        return enumerated().sorted { left, right in
            let (before, after) = (left.element.position ?? start, right.element.position ?? start)
            return (before.line, before.column, left.offset) < (after.line, after.column, right.offset)
        }.map(\.element)
    }
}
