import Testing

@testable import Configuration

@Suite struct WarningTests {
    private func configuration(_ document: String) throws(ConfigurationErrors) -> Configuration {
        try Configuration(parsing: Array(document.utf8), file: "functions.json", mode: .development)
    }

    @Test func aPublicAddressIsMissedInProduction() throws {
        func warnings(_ auth: String, _ mode: Configuration.Mode = .production) throws -> [String] {
            try Configuration(parsing: Array(#"{"project": "demo-hearth", "auth": \#(auth)}"#.utf8), file: "functions.json", mode: mode).warnings.map(
                \.message)
        }
        for auth in [#"{"signIn": {"password": true}}"#, #"{"signIn": {"emailLink": true}}"#, #"{"mail": {"host": "h", "from": "a@example.org"}}"#] {
            #expect(try warnings(auth).contains { $0.contains("set auth.publicUrl") }, "\(auth)")
            #expect(try warnings(auth, .development).isEmpty)
        }
        #expect(try warnings("{}").isEmpty)
        #expect(try warnings(#"{"signIn": {"password": true}, "publicUrl": "https://id.example.org"}"#).isEmpty)
    }

    @Test func originWithoutSchemeIsDoubtful() throws {
        let configuration = try configuration(
            #"{"project": "demo-hearth", "functions": {"a": {"cors": ["flutter.com", "https://x"]}, "b": {"cors": "*"}}}"#)
        #expect(
            configuration.warnings.map(\.description) == [
                #"functions.json:1:56: functions.a.cors: "flutter.com" has no scheme, so that no browser's origin equals it; "#
                    + #"write "https://flutter.com""#
            ])
    }

    @Test func originInCodeWithoutSchemeIsDoubtful() throws {
        let manifest = try ManifestTests.manifest(#"{"a": {"callableTrigger": {}, "cors": "flutter.com"}}"#)
        #expect(manifest.warnings.map(\.path) == ["endpoints.a.cors"])
    }

    @Test func optionsThatDoNothingAreNamed() throws {
        let manifest = try ManifestTests.manifest(
            #"{"a": {"callableTrigger": {}, "cors": true, "serviceAccount": "me@", "vpc": {"connector": "c"}, "ingressSettings": "ALLOW_ALL"}, "#
                + #""b": {"httpsTrigger": {}, "cors": true, "enforceAppCheck": true, "serviceAccount": null}, "#
                + #""c": {"eventTrigger": {"eventType": "google.firebase.database.ref.v1.written", "eventFilterPathPatterns": {"ref": "x"}}, "#
                + #""cors": false, "heartbeatSeconds": 5}}"#)
        #expect(
            manifest.warnings.map { "\($0.path): \($0.message)" } == [
                "endpoints.a.serviceAccount: serviceAccount does nothing on this host", "endpoints.a.vpc: vpc does nothing on this host",
                "endpoints.b.enforceAppCheck: enforceAppCheck does nothing for plain HTTP functions",
                "endpoints.c.cors: cors does nothing for functions that run on events",
                "endpoints.c.heartbeatSeconds: heartbeatSeconds does nothing for functions that run on events",
            ])
    }

    @Test func optionsForAFunctionThatNobodyHasAreDoubtful() throws {
        let functions = "{\n\"addMesage\": {},\n\"increment\": {},\n\"zzz\": {}}"
        let configuration = try configuration(#"{"project": "demo-hearth", "functions": \#(functions)}"#)
        #expect(
            configuration.warnings(forLoaded: ["addMessage", "increment"]).map(\.description) == [
                #"functions.json:2:14: functions.addMesage: no plugin has a function of this name; did you mean "addMessage"?"#,
                "functions.json:4:8: functions.zzz: no plugin has a function of this name",
            ])
    }

    @Test func pathsStartAtTheFolderOfTheFile() throws {
        let plugins = #"{"A": {"library": "a.so"}, "B": {"product": "B"}}"#
        let document = #"{"project": "demo-hearth", "plugins": \#(plugins), "database": {"rules": "r.json"}}"#
        let files = ["functions.json": document, "a.so": "", "r.json": "{}"]
        try FilePaths.withFolder(files) { folder in
            let configuration = try Configuration.load(file: folder + "/functions.json", mode: .production)
            #expect(configuration.directory == folder)
            #expect(configuration.plugins.map(\.source) == [.library(folder + "/a.so"), .product("B")])
            #expect(configuration.plugins.map(\.environmentDirectory) == [folder, folder])
            #expect(configuration.database.rules == folder + "/r.json")
        }
    }

    @Test func theProjectsOwnFileIsValid() throws {
        let configuration = try Configuration.load(file: FilePaths.root + "/functions.json", mode: .development)
        #expect(configuration.project == "demo-hearth")
        #expect(configuration.plugins.map(\.name) == ["Arithmetic", "Messages", "Followers", "Counter"])
        #expect(configuration.warnings.isEmpty)
    }
}
