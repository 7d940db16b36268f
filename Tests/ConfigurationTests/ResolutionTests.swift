import Testing

@testable import Configuration

/// How the options of a function come together from the code, `functions.json` and the host's defaults.
@Suite struct ResolutionTests {
    private func options(
        code: String = "", platform: String = "gcfv2", trigger: String = #""callableTrigger": {}"#, file: String = "{}",
        parameters: ParameterValues = ParameterValues()
    ) throws(ConfigurationErrors) -> FunctionOptions {
        let inner = code.isEmpty ? "" : ", \(code)"
        let manifest = try ManifestTests.manifest(#"{"f": {\#(trigger), "platform": "\#(platform)"\#(inner)}}"#)
        let document = #"{"project": "demo-hearth", \#(file.dropFirst().dropLast())}"#.replacingTrailingComma
        let configuration = try Configuration(parsing: Array(document.utf8), file: "functions.json", mode: .development)
        return try manifest.functions[0].resolved(in: configuration, parameters: parameters)
    }

    @Test func hostDefaultsFillEverything() throws {
        #expect(
            try options()
                == FunctionOptions(
                    regions: ["us-central1"], memoryBytes: 256 << 20, cpu: 1, concurrency: 80, timeoutSeconds: 60, minInstances: 0,
                    maxInstances: 4, enforceAppCheck: false, consumeAppCheckToken: false, cors: .reflect, heartbeat: .every(seconds: 30),
                    heartbeatStyle: .padding, secrets: [], labels: [:], environment: [:], omit: false, ingress: .all, invoker: .everybody,
                    retry: false))
    }

    @Test func httpFunctionsHaveNoCORSOfTheirOwn() throws {
        #expect(try options(trigger: #""httpsTrigger": {"invoker": ["private"]}"#).cors == .off)
        #expect(try options(trigger: #""httpsTrigger": {"invoker": ["private"]}"#).invoker == .nobody)
    }

    @Test func fileOverridesCodeOverridesCommonDefaults() throws {
        let common = #""defaults": {"memory": "128MiB", "timeoutSeconds": 5, "maxInstances": 9}"#
        #expect(try options(file: "{\(common)}").memoryBytes == 128 << 20)
        #expect(try options(code: #""availableMemoryMb": 512"#, file: "{\(common)}").memoryBytes == 512 << 20)
        let file = #"{\#(common), "functions": {"f": {"memory": "1GiB"}}}"#
        let options = try options(code: #""availableMemoryMb": 512, "timeoutSeconds": 0"#, file: file)
        #expect(options.memoryBytes == 1 << 30)
        #expect(options.timeoutSeconds == 5)
        #expect(options.maxInstances == 9)
    }

    @Test func nullAndZeroInCodeAreTheHostsDefault() throws {
        let options = try options(code: #""availableMemoryMb": null, "cpu": null, "maxInstances": 0, "cors": null, "concurrency": null"#)
        #expect(options.memoryBytes == 256 << 20)
        #expect(options.maxInstances == 4)
        #expect(options.cors == .reflect)
    }

    @Test func labelsAndSecretsAreAdded() throws {
        let options = try options(
            code: #""labels": {"a": "1", "b": "1"}, "secretEnvironmentVariables": [{"key": "X"}]"#,
            file: #"{"functions": {"f": {"labels": {"b": "2"}, "secrets": ["Y", "X"]}}}"#)
        #expect(options.labels == ["a": "1", "b": "2"])
        #expect(options.secrets == ["X", "Y"])
    }

    @Test(arguments: [
        (#""availableMemoryMb": 2048"#, 1.0, 80), (#""availableMemoryMb": 4096"#, 2, 80), (#""availableMemoryMb": 16384"#, 4, 80),
        (#""availableMemoryMb": 32768"#, 8, 80), (#""cpu": 0.5"#, 0.5, 1), (#""cpu": "gcf_gen1", "availableMemoryMb": 1024"#, 0.5833, 1),
        (#""cpu": 2, "concurrency": 5"#, 2, 5),
    ])
    func processorsFollowMemoryAndConcurrencyFollowsProcessors(_ code: String, _ cpu: Double, _ concurrency: Int) throws {
        let options = try options(code: code)
        #expect(options.cpu == cpu)
        #expect(options.concurrency == concurrency)
    }

    @Test func firstGenerationRunsOneCallAtATime() throws {
        #expect(try options(platform: "gcfv1").concurrency == 1)
        #expect(try options(platform: "gcfv1", file: #"{"defaults": {"concurrency": 20, "cpu": 2}}"#).concurrency == 1)
        #expect(try options(platform: "gcfv1", file: #"{"defaults": {"timeoutSeconds": 3600}}"#).timeoutSeconds == 540)
    }

    @Test func minimumRaisesAMaximumThatNobodyNamed() throws {
        #expect(try options(code: #""minInstances": 7"#).maxInstances == 7)
        #expect(try options(file: #"{"defaults": {"minInstances": 7}}"#).maxInstances == 7)
    }

    @Test func commonMinimumYieldsToAMaximumOfTheFunction() throws {
        let options = try options(code: #""maxInstances": 1"#, file: #"{"defaults": {"minInstances": 2}}"#)
        #expect(options.minInstances == 1)
        #expect(options.maxInstances == 1)
    }

    @Test func heartbeats() throws {
        #expect(try options(code: #""heartbeatSeconds": null"#).heartbeat == .never)
        #expect(try options(code: #""heartbeatSeconds": 0"#).heartbeat == .never)
        #expect(try options(code: #""heartbeatSeconds": 1.5, "heartbeatStyle": "comment""#).heartbeat == .every(seconds: 1.5))
        #expect(try options(code: #""heartbeatSeconds": 5"#, file: #"{"functions": {"f": {"heartbeatSeconds": null}}}"#).heartbeat == .never)
    }

    @Test func expressionsTakeParameters() throws {
        var parameters = ParameterValues()
        parameters.set("SIZE", .int, "512")
        parameters.set("IS_BIG", .boolean, "true")
        parameters.set("TIER", .string, "gold")
        let code = #"""
            "availableMemoryMb": "{{ params.SIZE }}", "maxInstances": "{{ params.TIER == \"gold\" ? 8 : 2 }}",
            "minInstances": "{{params.IS_BIG ? 3 : 0}}", "concurrency": "{{ params.SIZE >= 1024 ? 100 : 10 }}", "omit": "{{ params.IS_BIG }}",
            "timeoutSeconds": "{{ params.TIER != 'gold' ? 1 : 2.5 }}", "cpu": "{{ 2 }}"
            """#
        let options = try options(code: code, parameters: parameters)
        #expect(options.memoryBytes == 512 << 20)
        #expect(options.maxInstances == 8)
        #expect(options.minInstances == 3)
        #expect(options.concurrency == 10)
        #expect(options.omit)
        #expect(options.timeoutSeconds == 2.5)
        #expect(options.timeoutMilliseconds == 2500)
        #expect(options.cpu == 2)
    }

    struct Row: Sendable {
        var code = ""
        var platform = "gcfv2"
        var file = "{}"
        var line: String
    }

    @Test(arguments: [
        Row(code: #""concurrency": "{{ params.NONE }}""#,
            line: "libx.so: endpoints.f.concurrency: {{ params.NONE }} cannot be evaluated: there is no parameter NONE"),
        Row(code: #""concurrency": "{{ 2000 }}""#,
            line: "libx.so: endpoints.f.concurrency: expected an integer from 1 to 1000, found 2000 from {{ 2000 }}"),
        Row(code: #""concurrency": "{{ 'a' }}""#,
            line: #"libx.so: endpoints.f.concurrency: expected an integer from 1 to 1000, found "a" from {{ 'a' }}"#),
        Row(code: #""concurrency": "{{ 1 ? 2 : 3 }}""#,
            line: "libx.so: endpoints.f.concurrency: {{ 1 ? 2 : 3 }} cannot be evaluated: the condition before ? is not true or false"),
        Row(code: #""concurrency": "{{ foo }}""#,
            line: "libx.so: endpoints.f.concurrency: {{ foo }} cannot be evaluated: "
                + #"expected params.NAME, a number, text, true or false, found "foo""#),
        Row(code: #""concurrency": "{{ 1 2 }}""#,
            line: #"libx.so: endpoints.f.concurrency: {{ 1 2 }} cannot be evaluated: expected the end of the expression, found "2 ""#),
        Row(code: #""concurrency": "{{ 1 == 'a' }}""#,
            line: "libx.so: endpoints.f.concurrency: {{ 1 == 'a' }} cannot be evaluated: the two sides of == cannot be compared"),
        Row(code: #""timeoutSeconds": "{{ 5000 }}""#,
            line: "libx.so: endpoints.f.timeoutSeconds: expected 0 to 3600 seconds for a callable function, found 5000"),
        Row(code: #""cpu": "{{ 3 }}""#,
            line: #"libx.so: endpoints.f.cpu: expected a number from 0.08 to 1, or 2, 4, 6, 8 or "gcf_gen1", found 3 from {{ 3 }}"#),
        Row(code: #""omit": "{{ 3 }}""#, line: "libx.so: endpoints.f.omit: expected true or false, found 3 from {{ 3 }}"),
        Row(code: #""cpu": 0.5, "concurrency": 2"#, line: "libx.so: endpoints.f.concurrency: expected 1, since cpu is below 1; found 2"),
        Row(code: #""cpu": 0.5"#, file: #"{"functions": {"f": {"concurrency": 2}}}"#,
            line: "functions.json:1:63: functions.f.concurrency: expected 1, since cpu is below 1; found 2"),
        Row(code: #""cpu": 4"#, line: "libx.so: endpoints.f.cpu: 4 processors need at least 2GiB of memory, found 256MiB"),
        Row(code: #""cpu": 1"#, platform: "gcfv1", line: "libx.so: endpoints.f.cpu: a function of the first generation takes no cpu"),
        Row(code: #""concurrency": 2"#, platform: "gcfv1",
            line: "libx.so: endpoints.f.concurrency: expected 1, since a function of the first generation runs one call at a time; found 2"),
        Row(platform: "gcfv1", file: #"{"functions": {"f": {"timeoutSeconds": 541}}}"#,
            line: "functions.json:1:66: functions.f.timeoutSeconds: expected 0 to 540 seconds for a first-generation callable function, "
                + "found 541"),
        Row(code: #""minInstances": 5, "maxInstances": 4"#,
            line: "libx.so: endpoints.f.minInstances: expected at most maxInstances, which is 4, found 5"),
    ])
    func isRefused(_ row: Row) {
        let error = #expect(throws: ConfigurationErrors.self) { try options(code: row.code, platform: row.platform, file: row.file) }
        #expect(error?.description == row.line)
    }

    @Test(arguments: [
        ("true", CORSPolicy.reflect), ("false", .off), (#""""#, .off), ("[]", .off), (#""*""#, .any), (#"["*"]"#, .any),
        (#""https://x""#, .fixed("https://x")), (#"["https://x"]"#, .fixed("https://x")),
        (#"["https://x", "https://y"]"#, .list([.exact("https://x"), .exact("https://y")])),
    ])
    func originRules(_ value: String, _ policy: CORSPolicy) throws {
        #expect(try options(code: #""cors": \#(value)"#).cors == policy)
        #expect(try options(code: #""cors": true"#, file: #"{"functions": {"f": {"cors": \#(value)}}}"#).cors == policy)
    }

    @Test func originPatterns() throws {
        let policy = try options(code: #""cors": {"regex": "\\.EXAMPLE\\.org$", "flags": "i"}"#).cors
        guard case .list(let matchers) = policy else {
            Issue.record("expected a list, found \(policy)")
            return
        }
        #expect(matchers.contains { $0.matches("https://a.example.ORG") })
        #expect(!matchers.contains { $0.matches("https://a.example.net") })
    }
}

extension String {
    /// An empty object inserted into another one leaves a comma behind.
    fileprivate var replacingTrailingComma: String {
        hasSuffix(", }") ? dropLast(3) + "}" : self
    }
}
