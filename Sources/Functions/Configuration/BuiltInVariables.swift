/// Variables about the host that functions get, with the names of the hosted product (spec functions 9).
struct BuiltInVariables: Sendable {
    let project: String
    let region: String
    let isDevelopment: Bool
    /// Host and port.
    let address: String
    let revision: String
    private let defaultNamespace: String

    init(configuration: Configuration, address: String, revision: String) {
        project = configuration.project
        region = configuration.region
        isDevelopment = configuration.mode == .development
        self.address = address
        self.revision = revision
        defaultNamespace = configuration.database.defaultNamespace
    }

    private var databaseURL: String { "http://\(address)/?ns=\(defaultNamespace)" }
    private var storageBucket: String { "\(project).appspot.com" }

    /// The parameters that every plugin has without declaring them.
    var parameters: [(name: String, text: String)] {
        [("PROJECT_ID", project), ("GCLOUD_PROJECT", project), ("DATABASE_URL", databaseURL), ("STORAGE_BUCKET", storageBucket)]
    }

    func environment(for functions: [FunctionDeclaration]) -> [String: String] {
        let firebase = [("projectId", project), ("databaseURL", databaseURL), ("storageBucket", storageBucket)]
        let members = firebase.map { "\($0.0.jsonLiteral):\($0.1.jsonLiteral)" }
        var environment = [
            "GCLOUD_PROJECT": project,
            "GOOGLE_CLOUD_PROJECT": project,
            "FIREBASE_CONFIG": "{\(members.joined(separator: ","))}",
            "FUNCTION_REGION": region,
            "K_SERVICE": revision,
            "K_REVISION": revision,
            "TZ": "UTC",
        ]
        if let port = address.split(separator: ":").last { environment["PORT"] = String(port) }
        if functions.count == 1, let only = functions.first {
            environment["FUNCTION_TARGET"] = only.entryPoint
            environment["FUNCTION_SIGNATURE_TYPE"] = only.signatureType
            environment["K_SERVICE"] = only.name
        }
        if isDevelopment {
            environment["FUNCTIONS_EMULATOR"] = "true"
            environment["FIREBASE_DATABASE_EMULATOR_HOST"] = address
            environment["FIREBASE_AUTH_EMULATOR_HOST"] = address
            environment["CLOUD_TASKS_EMULATOR_HOST"] = address
        }
        return environment
    }
}

extension FunctionDeclaration {
    fileprivate var signatureType: String {
        guard case .event = trigger else { return "http" }
        return generation == 1 ? "event" : "cloudevent"
    }
}
