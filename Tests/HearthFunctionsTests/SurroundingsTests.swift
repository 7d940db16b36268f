import Glibc
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct Surroundings {
        @Test func parametersReadTheEnvironmentEachTime() throws {
            let text = StringParam("SDK_TEST_TEXT", default: "fallback"), whole = IntParam("SDK_TEST_INT", default: 7)
            let number = FloatParam("SDK_TEST_FLOAT"), flag = BoolParam("SDK_TEST_BOOL", default: true)
            let list = ListParam("SDK_TEST_LIST", default: ["a"]), secret = SecretParam("SDK_TEST_SECRET")
            let names = ["TEXT", "INT", "FLOAT", "BOOL", "LIST", "SECRET"].map { "SDK_TEST_" + $0 }
            #expect(text.value == "fallback" && whole.value == 7 && number.value == 0 && flag.value)
            #expect(list.value == ["a"])
            #expect(throws: UnsetSecretError(name: "SDK_TEST_SECRET")) { try secret.value }
            for (name, value) in zip(names, ["t", "12", "2.5", "yes", #"["x","y"]"#, "s"]) { setenv(name, value, 1) }
            #expect(text.value == "t" && whole.value == 12 && number.value == 2.5 && !flag.value)
            #expect(try list.value == ["x", "y"] && secret.value == "s")
            for name in names { setenv(name, "not a value", 1) }
            #expect(whole.value == 0 && number.value == 0 && list.value == [])
            for name in names { unsetenv(name) }
        }

        @Test func theProjectIsWhatTheHostSays() {
            #expect(Project.id == "" && Project.databaseURL == nil && Project.storageBucket == nil)
            setenv("FIREBASE_CONFIG", #"{"projectId":"p","databaseURL":"http://d","storageBucket":"b"}"#, 1)
            #expect(Project.id == "p" && Project.databaseURL == "http://d" && Project.storageBucket == "b")
            setenv("GCLOUD_PROJECT", "q", 1)
            #expect(Project.id == "q")
            unsetenv("FIREBASE_CONFIG")
            unsetenv("GCLOUD_PROJECT")
        }

        @Test func parametersAreDeclared() {
            let functions = Functions(params: [
                StringParam("A", default: "x", label: "L", description: "D"), IntParam("B", default: 1), FloatParam("C"),
                BoolParam("D", default: false), ListParam("E", default: ["y"]), SecretParam("F"),
            ]) { OnRequest("f", options: Options(secrets: ["F"])) { _ in Response() } }
            #expect(
                functions.manifest["params"] == [
                    ["name": "A", "type": "string", "default": "x", "label": "L", "description": "D"],
                    ["name": "B", "type": "int", "default": 1], ["name": "C", "type": "float"],
                    ["name": "D", "type": "boolean", "default": false], ["name": "E", "type": "list", "default": ["y"]],
                    ["name": "F", "type": "secret"],
                ])
        }

        @Test func logLinesCarryTheirCallAndFields() throws {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("logs") { (request: CallableRequest<Int>) in
                            logger.info("at once", metadata: ["a": "b", "n": [1, ["k": "v"]]])
                            await Task.yield()
                            logger.critical("later")
                        }
                    }))
            let ids = [host.start("logs", "1"), host.start("logs", "2")]
            for id in ids { _ = host.answer(of: id) }
            let fields = #"{"a":"b","n":[1,{"k":"v"}]}"#
            #expect(
                host.lines == [
                    .init(invocation: 1, level: 2, message: "at once", fields: fields),
                    .init(invocation: 2, level: 2, message: "at once", fields: fields),
                    .init(invocation: 1, level: 6, message: "later", fields: ""),
                    .init(invocation: 2, level: 6, message: "later", fields: ""),
                ])
        }

        @Test func servicesAnswerOrFail() throws {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("calls") { (request: CallableRequest<JSONValue>) in
                            try await services.call("some", "thing", request.data)
                        }
                    }))
            #expect(host.call("calls", #"{"a":1}"#) == .error(#"{"code":"unavailable","message":"no such service"}"#))
            host.serviceAnswer = (true, #"{"name":"-Nx"}"#)
            #expect(host.call("calls", "null") == .result(#"{"name":"-Nx"}"#))
            host.serviceAnswer = (true, "")
            #expect(host.call("calls", "null") == .result("null"))
            host.serviceAnswer = (false, #"{"code":"aborted","message":"m","details":[1]}"#)
            #expect(host.call("calls", "null") == .error(#"{"code":"aborted","message":"m","details":[1]}"#))
            #expect(
                host.serviceCalls == [
                    #"1 some.thing {"a":1}"#, "2 some.thing null", "3 some.thing null", "4 some.thing null",
                ])
        }
    }
}
