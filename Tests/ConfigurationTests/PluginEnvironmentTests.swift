import Glibc
import Testing

@testable import Configuration

@Suite struct PluginEnvironmentTests {
    private static let endpoints = #"""
        {"one": {"callableTrigger": {}, "secretEnvironmentVariables": [{"key": "API_KEY"}], "environmentVariables": {"OWN": "1", "PORT": "x"}},
         "two": {"eventTrigger": {"eventType": "e"}, "entryPoint": "group.two"}}
        """#

    private func load(
        _ files: [String: String], params: String = "[]", endpoints: String = endpoints, functions: String = "{}",
        mode: Configuration.Mode = .development, isDeployed: Bool = false
    ) throws -> PluginEnvironment {
        try FilePaths.withFolder(files) { folder in
            let manifest = try ManifestTests.manifest(endpoints, params: params)
            let document = #"{"project": "demo-hearth", "plugins": {"X": {"product": "X"}}, "functions": \#(functions)}"#
            let configuration = try Configuration(parsing: Array(document.utf8), file: folder + "/functions.json", mode: mode)
            do {
                return try PluginEnvironment.load(
                    plugin: configuration.plugins[0], manifest: manifest, configuration: configuration, address: "127.0.0.1:5001",
                    isDeployed: isDeployed)
            } catch let error as ConfigurationErrors {
                // The folder has another name each time.
                throw ConfigurationErrors(error.problems.map { problem in
                    var problem = problem
                    if problem.file.hasPrefix(folder) { problem.file.removeFirst(folder.count + 1) }
                    return problem
                })
            }
        }
    }

    private let secret = [".secret.local": "API_KEY=hush\nUNUSED=never"]

    @Test func laterFilesOverrideEarlierOnes() throws {
        let files = [
            ".env": "A=1\nB=1\nC=1", ".env.demo-hearth": "B=2\nC=2", ".env.local": "C=3", ".env.other": "A=9",
            ".secret.local": "API_KEY=x",
        ]
        let development = try load(files).forAllFunctions
        #expect(development["A"] == "1")
        #expect(development["B"] == "2")
        #expect(development["C"] == "3")
        #expect(try load(files, mode: .production).forAllFunctions["C"] == "2")
    }

    @Test func functionsLearnWhereTheyRun() throws {
        let environment = try load(secret).forAllFunctions
        #expect(
            environment == [
                "API_KEY": "hush", "OWN": "1", "GCLOUD_PROJECT": "demo-hearth", "GOOGLE_CLOUD_PROJECT": "demo-hearth",
                "FUNCTION_REGION": "us-central1", "K_SERVICE": "X", "K_REVISION": "X", "TZ": "UTC", "PORT": "5001",
                "FIREBASE_CONFIG": #"{"projectId":"demo-hearth","databaseURL":"http://127.0.0.1:5001/?ns=demo-hearth-default-rtdb","#
                    + #""storageBucket":"demo-hearth.appspot.com"}"#,
                "FUNCTIONS_EMULATOR": "true", "FIREBASE_DATABASE_EMULATOR_HOST": "127.0.0.1:5001",
                "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:5001", "CLOUD_TASKS_EMULATOR_HOST": "127.0.0.1:5001",
            ])
        let production = try load(secret, mode: .production).forAllFunctions
        #expect(production["FUNCTIONS_EMULATOR"] == nil)
        #expect(production["FIREBASE_DATABASE_EMULATOR_HOST"] == nil)
    }

    @Test func aSecretReachesOnlyFunctionsThatNameIt() throws {
        let environment = try load(secret)
        #expect(environment.environment(for: ["one"])["API_KEY"] == "hush")
        #expect(environment.environment(for: ["one"])["FUNCTION_TARGET"] == "one")
        #expect(environment.environment(for: ["one"])["FUNCTION_SIGNATURE_TYPE"] == "http")
        #expect(environment.environment(for: ["two"])["API_KEY"] == nil)
        #expect(environment.environment(for: ["two"])["OWN"] == nil)
        #expect(environment.environment(for: ["two"])["FUNCTION_TARGET"] == "group.two")
        #expect(environment.environment(for: ["two"])["FUNCTION_SIGNATURE_TYPE"] == "cloudevent")
        #expect(environment.forAllFunctions["UNUSED"] == nil)
        let added = try load(secret, functions: #"{"two": {"secrets": ["UNUSED"]}}"#)
        #expect(added.environment(for: ["two"])["UNUSED"] == "never")
    }

    @Test func aMissingSecretIsNamedWithItsFunctionAndFile() {
        let error = #expect(throws: ConfigurationErrors.self) { try load([:]) }
        #expect(error?.description == ".secret.local: the function one needs the secret API_KEY; add a line API_KEY=value")
    }

    @Test func aMissingSecretOfADeploymentIsTheHosts() {
        let error = #expect(throws: ConfigurationErrors.self) { try load([:], isDeployed: true) }
        #expect(error?.description.contains("on the host, ") == true)
        #expect(error?.description.hasSuffix(": the function one needs the secret API_KEY; add a line API_KEY=value") == true)
    }

    @Test func aFunctionThatIsLeftOutNeedsNoSecret() throws {
        #expect(try load([:], functions: #"{"one": {"omit": true}}"#).forAllFunctions["API_KEY"] == nil)
    }

    private static let params = #"""
        [{"name": "GREETING", "default": "Hello"}, {"name": "SIZE", "type": "int"}, {"name": "IS_ON", "type": "boolean", "default": false},
         {"name": "BUCKET", "default": "{{ params.STORAGE_BUCKET }}"}]
        """#

    @Test func parametersComeFromFilesAndDefaults() throws {
        let files = secret.merging([".env": "SIZE=3"]) { $1 }
        let environment = try load(files, params: Self.params)
        #expect(environment.parameters.text("SIZE") == "3")
        #expect(environment.forAllFunctions["GREETING"] == "Hello")
        #expect(environment.forAllFunctions["IS_ON"] == "false")
        #expect(environment.forAllFunctions["BUCKET"] == "demo-hearth.appspot.com")
        #expect(try environment.parameters.value("SIZE") == .number(3))
    }

    @Test(arguments: [
        ("", ".env.demo-hearth: the plugin X needs the parameter SIZE; add a line SIZE=value"),
        ("GREETING=x\nSIZE=big", #".env:2:1: SIZE: expected an integer, found "big""#),
        ("SIZE=1\nIS_ON=yes", #".env:2:1: IS_ON: expected true or false, found "yes""#),
        ("SIZE", ".env:1:1: expected KEY=value, found a line without =\n"
            + ".env.demo-hearth: the plugin X needs the parameter SIZE; add a line SIZE=value"),
    ])
    func aWrongParameterIsNamedWithItsLine(_ file: String, _ lines: String) {
        let error = #expect(throws: ConfigurationErrors.self) {
            try load(secret.merging([".env": file]) { $1 }, params: Self.params)
        }
        #expect(error?.description == lines)
    }

    @Test func secretsThatOthersCanReadAreDoubtful() throws {
        try FilePaths.withFolder(secret) { folder in
            let file = folder + "/.secret.local"
            #expect(chmod(file, 0o644) == 0)
            let document = #"{"project": "demo-hearth", "plugins": {"X": {"product": "X"}}}"#
            let configuration = try Configuration(parsing: Array(document.utf8), file: folder + "/functions.json", mode: .development)
            let environment = try PluginEnvironment.load(
                plugin: configuration.plugins[0], manifest: ManifestTests.manifest(Self.endpoints), configuration: configuration,
                address: "127.0.0.1:5001")
            #expect(
                environment.warnings.map(\.description) == ["\(file): other users of this machine can read the secrets; chmod 600 it"])
        }
        #expect(try load(secret).warnings.isEmpty)
    }
}
