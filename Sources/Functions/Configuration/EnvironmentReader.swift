import Files

/// Reads the environment files of a plugin and checks them against its manifest.
struct EnvironmentReader {
    let directory: String
    let configuration: Configuration
    private(set) var variables: [String: String] = [:]
    private(set) var secrets: [String: String] = [:]
    private(set) var problems: [Problem] = []
    private(set) var warnings: [Problem] = []
    /// The position of each variable.
    private var places: [String: (file: String, line: Int)] = [:]

    init(directory: String, configuration: Configuration) {
        self.directory = directory
        self.configuration = configuration
    }

    private var isDevelopment: Bool { configuration.mode == .development }
    private var projectFile: String { FileProbe.join(directory, ".env.\(configuration.project)") }
    private var secretFile: String { FileProbe.join(directory, ".secret.local") }

    /// Takes variables from a deployment, under the same rules as those of files.
    mutating func take(_ variables: [String: String], for plugin: String) {
        for (key, value) in variables.sorted(by: { $0.key < $1.key }) {
            let refusal = EnvironmentRules.isKey(key) ? EnvironmentRules.refusal(of: key) : "a key has only A to Z, 0 to 9 and _"
            if let refusal = refusal ?? EnvironmentRules.refusal(ofValue: value) {
                problems.append(Problem(file: "the environment of \(plugin)", path: key, message: refusal))
            }
            self.variables[key] = value
        }
    }

    mutating func readVariables() {
        var files = [FileProbe.join(directory, ".env"), projectFile]
        if isDevelopment { files.append(FileProbe.join(directory, ".env.local")) }
        for file in files {
            for entry in read(file, kind: .variables) {
                variables[entry.key] = entry.value
                places[entry.key] = (file, entry.line)
            }
        }
    }

    mutating func readSecrets() {
        for entry in read(secretFile, kind: .secrets) { secrets[entry.key] = entry.value }
        if FileProbe.isExposed(secretFile) {
            warnings.append(Problem(file: secretFile, message: "other users of this machine can read the secrets; chmod 600 it"))
        }
    }

    private mutating func read(_ file: String, kind: EnvironmentFile.Kind) -> [EnvironmentFile.Entry] {
        do throws(FileFailure) {
            let contents = EnvironmentFile(try WholeFile.read(file, sizeBytesMax: 1024 * 1024), file: file, kind: kind)
            problems += contents.problems
            warnings += contents.warnings
            return contents.entries
        } catch {
            if !error.isMissing { problems.append(Problem(file: file, message: "\(error)")) }
            return []
        }
    }

    /// The values of the plugin's parameters. Defaults are also set as variables.
    mutating func parameters(_ declared: [Parameter], builtIns: BuiltInVariables, plugin: String) -> ParameterValues {
        var values = ParameterValues()
        for (name, text) in builtIns.parameters { values.set(name, .string, text) }
        for parameter in declared where parameter.kind != .secret {
            guard let text = variables[parameter.name] ?? defaultText(parameter, values, plugin) else { continue }
            if let message = parameter.violation(text) {
                let place = places[parameter.name]
                let position = place.map { Position(line: $0.line, column: 1) }
                problems.append(Problem(file: place?.file ?? plugin, position: position, path: parameter.name, message: message))
            }
            variables[parameter.name] = text
            values.set(parameter.name, parameter.kind, text)
        }
        return values
    }

    private mutating func defaultText(_ parameter: Parameter, _ values: ParameterValues, _ plugin: String) -> String? {
        guard let text = parameter.defaultText else {
            let advice = "add a line \(parameter.name)=value"
            problems.append(Problem(file: projectFile, message: "the plugin \(plugin) needs the parameter \(parameter.name); \(advice)"))
            return nil
        }
        guard Expression.isOne(text) else { return text }
        do {
            return try Expression.evaluate(text, with: values).plainText
        } catch {
            let path = "params.\(parameter.name).default"
            problems.append(Problem(file: plugin, path: path, message: "\(text) cannot be evaluated: \(error.message)"))
            return nil
        }
    }

    /// Reports every secret that a function names and `.secret.local` lacks.
    ///
    /// - Parameter isDeployed: whether the message is for a user on another machine, who may have another `.secret.local`.
    mutating func requireSecrets(_ functions: [FunctionDeclaration], isDeployed: Bool) {
        for function in functions where !function.isOmitted(in: configuration) {
            for name in function.secretNames(in: configuration) where secrets[name] == nil {
                let message = "the function \(function.name) needs the secret \(name); add a line \(name)=value"
                problems.append(Problem(file: isDeployed ? secretFileOnHost : secretFile, message: message))
            }
        }
    }

    /// The path of the secrets file for a reader on another machine or in another folder.
    private var secretFileOnHost: String {
        let isBeside = directory == configuration.directory && !secretFile.hasPrefix("/")
        return "on the host, \(secretFile)\(isBeside ? " beside its functions.json" : "")"
    }
}

extension Expression.Value {
    /// The value as text of an environment variable.
    var plainText: String {
        if case .text(let text) = self { text } else { shown }
    }
}
