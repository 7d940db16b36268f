import Testing

@testable import Configuration

@Suite struct ManifestTests {
    static func manifest(_ endpoints: String, params: String = "[]") throws(ConfigurationErrors) -> PluginManifest {
        let text = #"{"specVersion":"v1alpha1","params":\#(params),"endpoints":\#(endpoints)}"#
        return try PluginManifest(parsing: Array(text.utf8), source: "libx.so")
    }

    @Test func blockingTriggersAreRead() throws {
        let manifest = try Self.manifest(
            """
            {"gate": {"blockingTrigger": {"eventType": "providers/cloud.auth/eventTypes/user.beforeSignIn",
             "options": {"idToken": true, "accessToken": false, "refreshToken": true}}}}
            """)
        let trigger = BlockingTrigger(
            eventType: "providers/cloud.auth/eventTypes/user.beforeSignIn", credentials: ["idToken", "refreshToken"])
        #expect(manifest.functions.first?.trigger == .blocking(trigger))
        #expect(manifest.functions.first?.trigger.isForRequests == false && manifest.functions.first?.trigger.timeoutSecondsMax(generation: 2) == 7)
    }

    @Test func schedulesAreRead() throws {
        let manifest = try Self.manifest(
            """
            {"a": {"scheduleTrigger": {"schedule": "every day 03:00", "timeZone": "Europe/Berlin", "retryConfig": {"retryCount": 3,
             "maxRetrySeconds": 60, "minBackoffSeconds": 0.5, "maxBackoffSeconds": 10, "maxDoublings": 2}}, "timeoutSeconds": 1800},
             "b": {"scheduleTrigger": {"schedule": "* * * * *", "timeZone": null, "retryConfig": null}},
             "c": {"scheduleTrigger": {"schedule": "* * * * *", "retryConfig": {"retryCount": null}}, "platform": "gcfv1"}}
            """)
        let retry = BackoffRetry(count: 3, maxSeconds: 60, minBackoffSeconds: 0.5, maxBackoffSeconds: 10, maxDoublings: 2)
        #expect(
            manifest.functions.map(\.trigger) == [
                .schedule(ScheduleTrigger(schedule: "every day 03:00", timeZone: "Europe/Berlin", retry: retry)),
                .schedule(ScheduleTrigger(schedule: "* * * * *", timeZone: "UTC")),
                .schedule(ScheduleTrigger(schedule: "* * * * *", timeZone: "America/Los_Angeles")),
            ])
        #expect(manifest.functions.allSatisfy { !$0.trigger.isForRequests })
    }

    @Test func everyOptionIsRead() throws {
        let manifest = try Self.manifest(
            """
            {"add": {"entryPoint": "g.add", "platform": "gcfv2", "callableTrigger": {}, "region": ["a", "b"], "availableMemoryMb": 512,
             "cpu": "gcf_gen1", "concurrency": 1, "timeoutSeconds": 0.5, "minInstances": 1, "maxInstances": 2, "labels": {"team": "x"},
             "secretEnvironmentVariables": [{"key": "API_KEY"}], "ingressSettings": "ALLOW_INTERNAL_ONLY", "serviceAccount": "default",
             "vpc": null, "omit": true, "enforceAppCheck": true, "consumeAppCheckToken": true, "cors": ["https://a", {"regex": "^b$"}],
             "heartbeatSeconds": null, "heartbeatStyle": "comment", "environmentVariables": {"A": "b"}}}
            """)
        let function = try #require(manifest.functions.first)
        #expect(function.entryPoint == "g.add")
        #expect(function.trigger == .callable)
        var options = DeclaredOptions()
        options.regions = ["a", "b"]
        options.memoryMebibytes = .value(512)
        options.cpu = .value(.firstGeneration)
        options.concurrency = .value(1)
        options.timeoutSeconds = .value(0.5)
        options.minInstances = .value(1)
        options.maxInstances = .value(2)
        options.labels = ["team": "x"]
        options.environment = ["A": "b"]
        options.secrets = ["API_KEY"]
        options.ingress = .internalOnly
        options.omit = .value(true)
        options.enforceAppCheck = true
        options.consumeAppCheckToken = true
        options.cors = .list([.exact("https://a"), .pattern(try Pattern("^b$"))])
        options.heartbeat = .never
        options.heartbeatStyle = .comment
        #expect(function.options == options)
    }

    @Test func eventTriggerIsRead() throws {
        let manifest = try Self.manifest(
            """
            {"up": {"eventTrigger": {"eventType": "google.firebase.database.ref.v1.created", "retry": true,
             "eventFilterPathPatterns": {"ref": "messages/{id}"}, "eventFilters": {"instance": "x"}}}}
            """)
        let trigger = EventTrigger(
            eventType: "google.firebase.database.ref.v1.created", filters: ["instance": "x"], pathPatterns: ["ref": "messages/{id}"], retry: true)
        #expect(manifest.functions.map(\.trigger) == [.event(trigger)])
    }

    struct Row: Sendable {
        var endpoints: String
        var lines: [String]
    }

    @Test(arguments: [
        Row(endpoints: #"{"a": {"callableTrigger": {}}, "a": {"callableTrigger": {}}}"#,
            lines: [#"1:82: the key "a" occurs twice in this object, before in line 1"#]),
        Row(endpoints: #"{"a": {}}"#,
            lines: [
                "1:57: endpoints.a: expected exactly one of callableTrigger, httpsTrigger, eventTrigger, blockingTrigger, "
                    + "scheduleTrigger, taskQueueTrigger, found none"
            ]),
        Row(endpoints: #"{"a": {"callableTrigger": {}, "httpsTrigger": {}}}"#,
            lines: [
                "1:57: endpoints.a: expected exactly one of callableTrigger, httpsTrigger, eventTrigger, blockingTrigger, "
                    + "scheduleTrigger, taskQueueTrigger, found callableTrigger and httpsTrigger"
            ]),
        Row(endpoints: #"{"a": {"callableTriger": {}}}"#,
            lines: [#"1:58: endpoints.a.callableTriger: unknown key; did you mean "callableTrigger"?"#]),
        Row(endpoints: #"{"a b": {"callableTrigger": {}}}"#,
            lines: [
                #"1:52: endpoints."a b": expected a function's name of 1 to 63 letters, digits, _ and - that starts with a letter, found "a b""#
            ]),
        Row(endpoints: #"{"a": {"callableTrigger": {}, "timeoutSeconds": 3601}}"#,
            lines: ["1:99: endpoints.a.timeoutSeconds: expected a number from 0 to 3600 or \(indirect), found 3601"]),
        Row(endpoints: #"{"a": {"eventTrigger": {"eventType": "x"}, "timeoutSeconds": 541}}"#,
            lines: ["1:112: endpoints.a.timeoutSeconds: expected 0 to 540 seconds for an event function, found 541"]),
        Row(
            endpoints: #"{"a": {"blockingTrigger": {"eventType": "providers/cloud.auth/eventTypes/user.beforeCreate"}, "timeoutSeconds": 8}}"#,
            lines: ["1:163: endpoints.a.timeoutSeconds: expected 0 to 7 seconds for a blocking function, found 8"]),
        Row(endpoints: #"{"a": {"scheduleTrigger": {"schedule": "* * * * *"}, "timeoutSeconds": 1801}}"#,
            lines: ["1:122: endpoints.a.timeoutSeconds: expected 0 to 1800 seconds for a scheduled function, found 1801"]),
        Row(
            endpoints: #"{"a": {"scheduleTrigger": {}}}"#,
            lines: ["1:77: endpoints.a.scheduleTrigger.schedule: missing; expected text of 1 to 500 characters"]),
        Row(endpoints: #"{"a": {"scheduleTrigger": {"schedule": "* * * * *", "retryConfig": {"minBackoffSeconds": 9, "maxBackoffSeconds": 8}}}}"#,
            lines: [
                "1:118: endpoints.a.scheduleTrigger.retryConfig: minBackoffSeconds is 9, which is more than maxBackoffSeconds, 8"
            ]),
        Row(endpoints: #"{"a": {"callableTrigger": {}, "platform": "gcfv1", "timeoutSeconds": 541}}"#,
            lines: ["1:120: endpoints.a.timeoutSeconds: expected 0 to 540 seconds for a first-generation callable function, found 541"]),
        Row(endpoints: #"{"a": {"callableTrigger": {}, "concurrency": "many"}}"#,
            lines: [#"1:96: endpoints.a.concurrency: expected an integer from 1 to 1000 or \#(indirect), found "many""#]),
        Row(endpoints: #"{"a": {"callableTrigger": {}, "cors": {"regex": "("}}}"#,
            lines: ["1:89: endpoints.a.cors: the regular expression is not understood: missing ): ("]),
        Row(endpoints: #"{"a": {"callableTrigger": {}, "labels": {"firebase": "x"}}}"#,
            lines: [#"1:104: endpoints.a.labels.firebase: labels that start with "firebase" are reserved"#]),
        Row(endpoints: #"{"a": {"httpsTrigger": {"invoker": ["x", "private"]}}}"#,
            lines: [#"1:86: endpoints.a.httpsTrigger.invoker: "private" cannot be combined with others in a list"#]),
        Row(endpoints: #"{"a": {"callableTrigger": {}, "labels": {"ähm": "Ä"}}}"#,
            lines: ["1:99: endpoints.a.labels.\"ähm\": expected lower-case letters, digits, _ and - in a label"]),
    ])
    func isRefused(_ row: Row) {
        let error = #expect(throws: ConfigurationErrors.self) { try Self.manifest(row.endpoints) }
        #expect(error?.description == row.lines.map { "libx.so:\($0)" }.joined(separator: "\n"))
    }

    private static let indirect = #"a parameter expression such as "{{ params.NAME }}""#

    @Test(arguments: [
        ("", "libx.so:1:1: expected a JSON document, found an empty file"),
        ("{}", "libx.so:1:1: specVersion: missing; expected \"v1alpha1\"\nlibx.so:1:1: endpoints: missing; expected an object"),
        (#"{"specVersion":"v2","endpoints":{}}"#, #"libx.so:1:16: specVersion: expected "v1alpha1", found "v2""#),
    ])
    func whatIsNoManifestIsRefused(_ text: String, _ line: String) {
        let error = #expect(throws: ConfigurationErrors.self) { try PluginManifest(parsing: Array(text.utf8), source: "libx.so") }
        #expect(error?.description == line)
    }

    @Test func paramsAreRead() throws {
        let manifest = try Self.manifest(
            "{}",
            params: """
                [{"name": "A"}, {"name": "B", "type": "int", "default": 3}, {"name": "C", "type": "boolean", "default": true},
                 {"name": "D", "type": "list", "default": ["x", "y\\"z"]}, {"name": "E", "type": "secret"}]
                """)
        #expect(manifest.params.map(\.kind) == [.string, .int, .boolean, .list, .secret])
        #expect(manifest.params.map(\.defaultText) == [nil, "3", "true", #"["x","y\"z"]"#, nil])
    }

    @Test(arguments: [
        (#"[{"name": "A"}, {"name": "A"}]"#, #"params[1].name: "A" is declared twice"#),
        (#"[{"name": "PORT"}]"#, "params[0].name: PORT is reserved: the host sets it itself"),
        (#"[{"name": "A", "type": "int", "default": "x"}]"#, #"params[0].default: expected an integer, found "x""#),
        (#"[{"name": "A", "type": "date"}]"#,
            #"params[0].type: expected "string", "int", "float", "boolean", "list" or "secret", found "date""#),
        (#"[{"name": "A", "default": "x", "input": {"text": {"validationRegex": "^y$", "validationErrorMessage": "say y"}}}]"#,
            "params[0].default: say y"),
        (#"[{"name": "A", "default": "x", "input": {"select": {"options": [{"value": "y"}, {"value": "z"}]}}}]"#,
            #"params[0].default: expected "y" or "z", found "x""#),
    ])
    func paramIsRefused(_ params: String, _ message: String) {
        let error = #expect(throws: ConfigurationErrors.self) { try Self.manifest("{}", params: params) }
        #expect(error?.problems.map { "\($0.path): \($0.message)" } == [message])
    }
}

/// A manifest comes from a plugin, which may be hostile: what it costs to read is bounded.
@Suite struct HostileManifestTests {
    @Test func manyFunctionsAreReadInTime() throws {
        let names = (0..<1000).map { #""f\#($0)":{"callableTrigger":{}}"# }
        let manifest = try ManifestTests.manifest("{\(names.joined(separator: ","))}")
        #expect(manifest.functions.count == 1000)
    }

    @Test func manyMistakesAreNotAllTold() {
        let names = (0..<2000).map { #""f\#($0)":{"callableTriggers":{}}"# }
        let error = #expect(throws: ConfigurationErrors.self) { try ManifestTests.manifest("{\(names.joined(separator: ","))}") }
        #expect((error?.problems.count ?? 0) <= 2 * SchemaValidator.problemsMax)
    }

    @Test func largeRegularExpressionsAreRefused() {
        let names = (0..<100).map { #""f\#($0)":{"callableTrigger":{},"cors":{"regex":"a{1000}b{1000}c{1000}d{1000}"}}"# }
        let error = #expect(throws: ConfigurationErrors.self) { try ManifestTests.manifest("{\(names.joined(separator: ","))}") }
        #expect(error?.problems.first?.message == "the regular expressions of the plugin are too large together")
    }

    @Test func aLargeManifestIsRefused() {
        let error = #expect(throws: ConfigurationErrors.self) {
            try ManifestTests.manifest("{}" + String(repeating: " ", count: 1 << 20))
        }
        #expect(error?.description.contains("at most 1048576 are read") == true)
    }
}
