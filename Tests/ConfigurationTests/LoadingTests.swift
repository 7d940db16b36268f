import Testing

@testable import Configuration

@Suite struct LoadingTests {
    @Test func everythingHasADefaultButTheProject() throws {
        let configuration = try Configuration(parsing: Array(#"{"project": "demo-hearth"}"#.utf8), file: "functions.json", mode: .development)
        #expect(configuration.project == "demo-hearth")
        #expect(configuration.region == "us-central1")
        #expect(configuration.server.host == "127.0.0.1")
        #expect(configuration.server.port == 5001)
        #expect(configuration.server.limits.bodyBytes == 32 * 1024 * 1024)
        #expect(configuration.server.tls == nil)
        #expect(configuration.plugins.isEmpty)
        #expect(configuration.auth.issuer == "https://securetoken.google.com/demo-hearth")
        #expect(configuration.auth.keys == nil)
        #expect(configuration.appCheck.keys == nil)
        #expect(configuration.database.rules == nil)
        #expect(configuration.database.storage == .sqlite)
        #expect(configuration.database.defaultNamespace == "demo-hearth-default-rtdb")
        #expect(configuration.database.limits.writeBytes == 256 * 1024 * 1024)
        #expect(configuration.database.triggers.chainDepth == 16)
        #expect(configuration.logging.level == .info)
        #expect(configuration.warnings.isEmpty)
    }

    @Test func tokensOfFirebaseCountWhereTheConfigurationSaysSo() throws {
        let text = #"{"project": "mine", "auth": {"keys": {"firebase": true}}, "appCheck": {"keys": {"firebase": true}, "projectNumber": "12"}}"#
        let configuration = try Configuration(parsing: Array(text.utf8), file: "functions.json", mode: .production)
        let certificates = "https://www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"
        #expect(configuration.auth.keys == .certificatesURL(certificates))
        #expect(configuration.appCheck.keys == .jwksURL("https://firebaseappcheck.googleapis.com/v1/jwks"))
    }

    @Test func manifestGivesFunctionsInWrittenOrder() throws {
        let manifest = try PluginManifest(
            parsing: Array(#"{"specVersion":"v1alpha1","endpoints":{"b":{"callableTrigger":{}},"a":{"httpsTrigger":{},"platform":"gcfv1"}}}"#.utf8),
            source: "libtwo.so")
        #expect(manifest.functions.map(\.name) == ["b", "a"])
        #expect(manifest.functions.map(\.index) == [0, 1])
        #expect(manifest.functions.map(\.generation) == [2, 1])
        let configuration = try Configuration(parsing: Array(#"{"project": "demo-hearth"}"#.utf8), file: "functions.json", mode: .development)
        let options = try manifest.functions[0].resolved(in: configuration)
        #expect(options.memoryBytes == 256 * 1024 * 1024)
        #expect(options.concurrency == 80)
        #expect(options.timeoutSeconds == 60)
        #expect(options.cors == .reflect)
        #expect(options.heartbeat == .every(seconds: 30))
    }
}
