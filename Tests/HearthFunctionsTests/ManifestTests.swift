import Testing

@testable import HearthFunctions

private let nothing: @Sendable (CallableRequest<JSONValue>) -> JSONValue = { _ in .null }

extension SDK {
    @Suite struct Manifest {
        private func endpoint(_ name: String, in functions: Functions) throws -> JSONValue {
            try #require(functions.manifest["endpoints"]?[name])
        }

        @Test func aFunctionWithoutOptionsSaysNoMoreThanItIs() throws {
            let functions = Functions {
                OnCall("call", nothing)
                OnRequest("plain") { _ in Response() }
            }
            #expect(functions.manifest["specVersion"] == "v1alpha1")
            #expect(try endpoint("call", in: functions) == ["entryPoint": "call", "platform": "gcfv2", "callableTrigger": [:]])
            #expect(try endpoint("plain", in: functions) == ["entryPoint": "plain", "platform": "gcfv2", "httpsTrigger": [:]])
        }

        @Test func everyOptionIsWritten() throws {
            let functions = Functions {
                OnCall(
                    "all", options: Options(region: ["europe-west1"], memory: .gib2, timeoutSeconds: 30, cpu: 2, concurrency: 5, minInstances: 1,
                    maxInstances: 3, secrets: ["KEY", SecretParam("OTHER")], labels: ["team": "blue"],
                    ingressSettings: .allowInternalOnly, serviceAccount: "me@", vpc: VPC(connector: "c", egress: .allTraffic),
                    enforceAppCheck: true, consumeAppCheckToken: true,
                    cors: ["https://a.example", .matching("\\.example$")], heartbeatSeconds: 2.5, heartbeatStyle: .comment,
                    omit: true), nothing)
            }
            #expect(
                try endpoint("all", in: functions) == [
                    "entryPoint": "all", "platform": "gcfv2", "region": ["europe-west1"], "availableMemoryMb": 2048,
                    "timeoutSeconds": 30, "cpu": 2, "concurrency": 5, "minInstances": 1, "maxInstances": 3,
                    "secretEnvironmentVariables": [["key": "KEY"], ["key": "OTHER"]], "labels": ["team": "blue"],
                    "ingressSettings": "ALLOW_INTERNAL_ONLY", "serviceAccount": "me@",
                    "vpc": ["connector": "c", "egressSettings": "ALL_TRAFFIC"], "enforceAppCheck": true,
                    "consumeAppCheckToken": true, "cors": ["https://a.example", ["regex": "\\.example$"]],
                    "heartbeatSeconds": 2.5, "heartbeatStyle": "comment", "omit": true, "callableTrigger": [:],
                ])
            let params: JSONValue = [["name": "KEY", "type": "secret"], ["name": "OTHER", "type": "secret"]]
            #expect(functions.manifest["params"] == params)
        }

        @Test func optionsOfOneKindOfFunctionOnly() throws {
            let functions = Functions {
                OnCall("first", generation: .first, nothing)
                OnCall("quiet", options: Options(heartbeatSeconds: .off), nothing)
                OnRequest("private", options: Options(invoker: .private)) { _ in Response() }
                OnRequest("some", options: Options(invoker: .accounts(["a@x", "b@x"]))) { _ in Response() }
            }
            #expect(try endpoint("first", in: functions)["platform"] == "gcfv1")
            #expect(try endpoint("quiet", in: functions)["heartbeatSeconds"] == .some(.null))
            #expect(try endpoint("private", in: functions)["httpsTrigger"] == ["invoker": ["private"]])
            #expect(try endpoint("some", in: functions)["httpsTrigger"] == ["invoker": ["a@x", "b@x"]])
        }

        @Test(arguments: [
            (CORS.all, true), (.off, false), (false, false), ("https://a.example", "https://a.example"),
            (["https://a.example"], ["https://a.example"]), (.matching("a$"), [["regex": "a$"]]),
        ] as [(CORS, JSONValue)])
        func corsIsWhatTheHostReads(_ cors: CORS, _ written: JSONValue) throws {
            #expect(try endpoint("f", in: Functions { OnCall("f", options: Options(cors: cors), nothing) })["cors"] == written)
        }

        @Test func defaultsAreFilledInAndLabelsMerged() throws {
            let defaults = Options(timeoutSeconds: 10, maxInstances: 2, labels: ["team": "blue", "tier": "one"])
            let functions = Functions(defaults: defaults) {
                OnCall("own", options: Options(timeoutSeconds: 20, labels: ["team": "red"]), nothing)
                OnCall("default", nothing)
            }
            let own = try endpoint("own", in: functions), other = try endpoint("default", in: functions)
            #expect(own["timeoutSeconds"] == 20 && own["maxInstances"] == 2)
            #expect(own["labels"] == ["team": "red", "tier": "one"])
            #expect(other["timeoutSeconds"] == 10 && other["labels"] == ["team": "blue", "tier": "one"])
        }

        @Test func groupsNestAndKeepTheOrder() throws {
            let functions = Functions {
                Group("chat") {
                    OnCall("send", nothing)
                    Group("admin") { OnCall("purge", nothing) }
                }
                for name in ["one", "two"] { OnCall(name, nothing) }
                if functionsOfTheFuture { OnCall("later", nothing) }
            }
            let endpoints = try #require(functions.manifest["endpoints"]?.object)
            #expect(Array(endpoints.keys) == ["chat-send", "chat-admin-purge", "one", "two"])
            #expect(endpoints["chat-admin-purge"]?["entryPoint"] == "chat.admin.purge")
        }

        private var functionsOfTheFuture: Bool { false }
    }
}
