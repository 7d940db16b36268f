import Files

/// Converts a validated `functions.json` into a `Configuration`, and checks rules that a schema cannot express: files that must exist,
/// options that must be consistent.
struct ConfigurationReader {
    let text: SourceText
    let root: Field
    let directory: String
    /// Whether the libraries of plugins may be missing, because they are not built yet.
    private let isBeforeBuild: Bool
    private(set) var problems: [Problem]
    private(set) var warnings: [Problem] = []

    /// - Parameter violations: problems that the schema validator has found; the values at these positions are not checked further.
    init(text: SourceText, root: Field, violations: [Problem], isBeforeBuild: Bool) {
        self.isBeforeBuild = isBeforeBuild
        self.text = text
        self.root = root
        directory = Folder.parent(of: text.file)
        problems = violations
    }

    mutating func configuration(mode: Configuration.Mode) -> Configuration {
        let project = root["project"].stringIfPresent ?? ""
        return Configuration(
            file: text.file,
            directory: directory,
            mode: mode,
            project: project,
            region: root["region"].string,
            server: server(root["server"]),
            plugins: plugins(root["plugins"]),
            defaults: overrides(root["defaults"]),
            functions: functions(root["functions"]),
            workers: workers(root["workers"]),
            auth: auth(root["auth"], project: project),
            identity: identity(root["auth"], mode: mode),
            appCheck: appCheck(root["appCheck"]),
            appExchange: appExchange(root["appCheck"], mode: mode),
            database: database(root["database"], project: project),
            messaging: messaging(root["messaging"]),
            schedules: schedules(root["schedules"]),
            telemetry: telemetry(root["telemetry"]),
            http: outgoing(root["http"]),
            cache: cache(root["cache"]),
            tasks: taskQueues(root["tasks"]),
            crashes: crashes(root["crashes"]),
            logging: logging(root["logging"]),
            watch: WatchSettings(configuration: root["watch"]["configuration"].choice(WatchSettings.BuildConfiguration.self)),
            warnings: [])
    }

    private func logging(_ field: Field) -> LoggingSettings {
        let store = field["store"]
        return LoggingSettings(
            level: field["level"].choice(LoggingSettings.Level.self), invocations: field["invocations"].boolIfPresent,
            store: LogStoreSettings(bytes: store["bytes"].int, days: store["days"].double))
    }

    private mutating func server(_ field: Field) -> ServerSettings {
        let limits = field["limits"]
        let http2 = field["http2"]
        let tls = field["tls"]
        var tlsSettings: TLSSettings?
        if tls.isPresent, let certificate = file(tls["certificate"]), let key = secretFile(tls["key"]) {
            tlsSettings = TLSSettings(certificate: certificate, key: key)
        }
        return ServerSettings(
            host: field["host"].string,
            port: field["port"].int,
            loops: field["loops"].int,
            connectionsMax: field["connectionsMax"].int,
            memoryBytes: field["memoryBytes"].intIfPresent,
            tls: tlsSettings,
            trustedProxies: field["trustedProxies"].stringsIfPresent ?? [],
            limits: ServerLimits(
                headerBytes: limits["headerBytes"].int,
                bodyBytes: limits["bodyBytes"].int,
                headerSeconds: limits["headerSeconds"].double,
                bodySeconds: limits["bodySeconds"].double,
                idleSeconds: limits["idleSeconds"].double),
            http2: HTTP2Settings(
                isEnabled: http2["enabled"].bool,
                streamsMax: http2["streamsMax"].int,
                windowBytes: http2["windowBytes"].int,
                resetsMax: http2["resetsMax"].int))
    }

    private mutating func plugins(_ field: Field) -> [PluginSettings] {
        field.entries.compactMap { name, plugin in
            let (product, library) = (plugin["product"], plugin["library"])
            let source: PluginSettings.Source
            switch (product.stringIfPresent, library.stringIfPresent) {
            case (let product?, nil): source = .product(product)
            case (nil, _?): source = .library(file(library, mayBeMissing: isBeforeBuild) ?? "")
            case (_?, _?):
                fail(library, "expected one of product and library, found both")
                return nil
            case (nil, nil):
                fail(plugin, "missing; expected a product or a library")
                return nil
            }
            return PluginSettings(
                name: name, source: source, isolation: plugin["isolation"].choice(PluginSettings.Isolation.self),
                environmentDirectory: folder(plugin["environment"]))
        }
    }

    private func workers(_ field: Field) -> WorkerSettings {
        WorkerSettings(
            idleSeconds: field["idleSeconds"].double,
            queueLengthMax: field["queueLengthMax"].int,
            queueWaitMilliseconds: field["queueWaitMilliseconds"].int,
            restartLimit: field["restartLimit"].int,
            restartWindowSeconds: field["restartWindowSeconds"].double,
            prewarmed: field["prewarmed"].int,
            drainSeconds: field["drainSeconds"].double,
            blockedLoopSeconds: field["blockedLoopSeconds"].double,
            logBytesPerSecond: field["logBytesPerSecond"].int,
            openFiles: field["openFiles"].int,
            tasks: field["tasks"].int,
            folderBytes: field["folderBytes"].int,
            readable: (field["readable"].stringsIfPresent ?? []).map { FileProbe.join(directory, $0) },
            sandbox: field["sandbox"].bool)
    }

    private mutating func auth(_ field: Field, project: String) -> TokenSettings {
        TokenSettings(
            issuer: field["issuer"].stringIfPresent ?? "https://securetoken.google.com/\(project)",
            projectNumber: nil,
            keys: keys(field["keys"], ofFirebase: .certificatesURL(Self.firebaseCertificates)),
            clockSkewSeconds: field["clockSkewSeconds"].double)
    }

    private static let firebaseCertificates = "https://www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"

    private mutating func appCheck(_ field: Field) -> TokenSettings {
        let keys = keys(field["keys"], ofFirebase: .jwksURL("https://\(Self.firebaseAppCheck)/v1/jwks"))
        if case .jwksURL(let address) = keys, address.hasPrefix("https://\(Self.firebaseAppCheck)/"), !field["projectNumber"].isPresent {
            fail(field["keys"], "these keys sign the tokens of every Firebase project; expected appCheck.projectNumber too")
        }
        return TokenSettings(
            issuer: field["issuer"].string,
            projectNumber: field["projectNumber"].stringIfPresent,
            keys: keys,
            clockSkewSeconds: field["clockSkewSeconds"].double)
    }

    private static let firebaseAppCheck = "firebaseappcheck.googleapis.com"

    /// The keys of another issuer; nil if the configuration names none.
    private mutating func keys(_ field: Field, ofFirebase firebase: TokenSettings.Keys) -> TokenSettings.Keys? {
        if field["jwksFile"].isPresent { return .jwksFile(file(field["jwksFile"]) ?? "") }
        if field["certificatesFile"].isPresent { return .certificatesFile(file(field["certificatesFile"]) ?? "") }
        if field["firebase"].isPresent { return firebase }
        if let address = field["jwksUrl"].stringIfPresent { return .jwksURL(address) }
        return field["certificatesUrl"].stringIfPresent.map { .certificatesURL($0) }
    }

    private mutating func database(_ field: Field, project: String) -> DatabaseSettings {
        DatabaseSettings(
            rules: file(field["rules"]), storage: field["storage"].choice(DatabaseSettings.Storage.self),
            defaultNamespace: field["defaultNamespace"].stringIfPresent ?? "\(project)-default-rtdb",
            namespaces: field["namespaces"].stringsIfPresent ?? [], idleSeconds: field["idleSeconds"].double,
            readers: field["readers"].intIfPresent, onceSeconds: field["onceSeconds"].double,
            enforceAppCheck: field["enforceAppCheck"].bool, limits: limits(field["limits"]),
            triggers: triggers(field["triggers"]))
    }

    // MARK: Files

    /// The path of a file that must exist; nil if the document names none.
    mutating func file(_ field: Field, mayBeMissing: Bool = false) -> String? {
        guard let name = field.stringIfPresent else { return nil }
        let path = FileProbe.join(directory, name)
        guard let mode = FileProbe.mode(path) else {
            if !mayBeMissing { fail(field, "expected a file, found nothing at \(path.quotedPath)") }
            return path
        }
        if mode & 0o170000 == 0o040000 {
            fail(field, "expected a file, found a folder at \(path.quotedPath)")
        } else if !FileProbe.isReadable(path) {
            fail(field, "expected a file that can be read; this process may not read \(path.quotedPath)")
        }
        return path
    }

    mutating func folder(_ field: Field) -> String {
        let path = FileProbe.join(directory, field.string)
        if field.isPresent, !FileProbe.isDirectory(path) { fail(field, "expected a folder, found none at \(path.quotedPath)") }
        return path
    }

    /// The path of a file with a secret. Warns if others can read it.
    mutating func secretFile(_ field: Field) -> String? {
        guard let path = file(field) else { return nil }
        warnIfExposed(path, field)
        return path
    }

    mutating func warnIfExposed(_ path: String, _ field: Field) {
        guard FileProbe.isExposed(path) else { return }
        warn(field, "other users of this machine can read \(path); chmod 600 it")
    }

    // MARK: Problems

    /// Whether the schema validator has found no problem in a value.
    func isValid(_ field: Field) -> Bool {
        !problems.contains { field.path.contains($0.path) }
    }

    mutating func fail(_ field: Field, _ message: String) {
        guard problems.count < 2 * SchemaValidator.problemsMax, isValid(field) else { return }
        problems.append(text.problem(at: field.value?.offset ?? 0, path: field.path, message))
    }

    mutating func warn(_ field: Field, _ message: String) {
        warnings.append(text.problem(at: field.value?.offset ?? 0, path: field.path, message))
    }
}
