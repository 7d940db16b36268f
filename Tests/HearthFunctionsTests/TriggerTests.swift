import Testing

@testable import HearthFunctions

private struct Message: Decodable {
    var text: String
}

/// An event as the host tells of it.
private let context = """
    {"event":{"id":"e1","type":"google.firebase.database.ref.v1.created","source":"//firebasedatabase.googleapis.com/x",\
    "subject":"refs/messages/m1","time":"2026-11-21T16:04:05.123Z","instance":"demo-default-rtdb","ref":"messages/m1",\
    "location":"us-central1","params":{"id":"m1"},"authType":"app_user","authId":"u1","attempt":2}}
    """

extension SDK {
    @Suite struct Triggers {
        @Test func theManifestSaysWhichWrites() throws {
            let functions = Functions {
                OnValueCreated("created", ref: "/messages/{id}/original/") { (_: DatabaseEvent<String>) in }
                OnValueUpdated("updated", ref: "a", instance: "archive", retry: true) { _ in }
                OnValueDeleted("deleted", ref: "a/{b=**}", instance: "chat-*", options: Options(memory: .mib512, timeoutSeconds: 540)) { _ in }
                Group("g") { OnValueWritten("written", ref: "") { (_: DatabaseEvent<Change<Int?>>) in } }
            }
            let endpoints = try #require(functions.manifest["endpoints"])
            #expect(functions.problems == [])
            #expect(
                endpoints["created"] == [
                    "entryPoint": "created", "platform": "gcfv2",
                    "eventTrigger": [
                        "eventType": "google.firebase.database.ref.v1.created",
                        "eventFilterPathPatterns": ["ref": "messages/{id}/original", "instance": "*"], "retry": false,
                    ],
                ])
            #expect(
                endpoints["updated"]?["eventTrigger"] == [
                    "eventType": "google.firebase.database.ref.v1.updated", "eventFilters": ["instance": "archive"],
                    "eventFilterPathPatterns": ["ref": "a"], "retry": true,
                ])
            #expect(endpoints["deleted"]?["availableMemoryMb"] == 512)
            #expect(endpoints["deleted"]?["eventTrigger"]?["eventFilterPathPatterns"] == ["ref": "a/{b=**}", "instance": "chat-*"])
            #expect(endpoints["g-written"]?["eventTrigger"]?["eventType"] == "google.firebase.database.ref.v1.written")
        }

        @Test func whatCannotBeIsSaid() {
            let functions = Functions {
                OnValueCreated("slow", ref: "a", options: Options(timeoutSeconds: 541)) { _ in }
                OnValueCreated("nowhere", ref: "a", instance: "") { _ in }
                OnValueWritten("certain", ref: "a") { (_: DatabaseEvent<Change<Message>>) in }
                OnValueWritten("uncertain", ref: "a") { (_: DatabaseEvent<Change<JSONValue>>) in }
            }
            #expect(
                functions.problems == [
                    #"Function "slow": timeoutSeconds is 541, but a function that runs on events has at most 540."#,
                    #"Function "nowhere": its instance is empty; "*" stands for every database."#,
                    #"Function "certain": its values are Message, but either side of a write may be missing: use Message?."#,
                ])
        }

        private func run(_ content: some FunctionsContent, _ payload: String) throws -> (FakeHost, FakeHost.Answer?) {
            let host = try #require(FakeHost(Functions { content }))
            host.serviceAnswer = (true, "null")
            return (host, host.call("f", payload, context: context))
        }

        @Test func anEventTellsWhatWasWrittenWhereAndByWhom() throws {
            let function = OnValueCreated("f", ref: "messages/{id}") { event in
                #expect(event.id == "e1" && event.time == "2026-11-21T16:04:05.123Z" && event.params == ["id": "m1"])
                #expect(event.instance == "demo-default-rtdb" && event.location == "us-central1" && event.deadline == nil)
                #expect(event.authType == .appUser && event.authID == "u1" && event.attempt == 2)
                #expect(event.ref.path == "/messages/m1" && event.ref.database.instanceName == "demo-default-rtdb")
                #expect(event.data.ref == event.ref && event.data.childSnapshot(forPath: "text").value == "hi")
                await Task.yield()
                try await event.ref.child("seen").setValue(event.params["id"])
            }
            let (host, answer) = try run(function, #"{"before":null,"after":{"text":"hi"}}"#)
            #expect(answer == .result("null"))
            #expect(host.serviceCalls == [#"1 database.set {"path":"/messages/m1/seen","instance":"demo-default-rtdb","value":"m1"}"#])
        }

        @Test func eachKindHasItsValues() throws {
            let both = #"{"before":{"text":"a"},"after":{"text":"b"}}"#
            let updated = OnValueUpdated("f", ref: "x") { (event: DatabaseEvent<Change<Message>>) in
                #expect(event.data.before.text == "a" && event.data.after.text == "b")
            }
            #expect(try run(updated, both).1 == .result("null"))
            let dynamic = OnValueUpdated("f", ref: "x") { event in
                #expect(event.data.before.value["text"] == "a" && event.data.after.childrenCount == 1)
            }
            #expect(try run(dynamic, both).1 == .result("null"))
            let deleted = OnValueDeleted("f", ref: "x") { (event: DatabaseEvent<Message>) in #expect(event.data.text == "a") }
            #expect(try run(deleted, #"{"before":{"text":"a"},"after":null}"#).1 == .result("null"))
            let gone = OnValueDeleted("f", ref: "x") { event in #expect(event.data.value["text"] == "a") }
            #expect(try run(gone, #"{"before":{"text":"a"},"after":null}"#).1 == .result("null"))
            let written = OnValueWritten("f", ref: "x") { (event: DatabaseEvent<Change<Message?>>) in
                #expect(event.data.before == nil && event.data.after?.text == "b")
            }
            #expect(try run(written, #"{"before":null,"after":{"text":"b"}}"#).1 == .result("null"))
            let any = OnValueWritten("f", ref: "x") { event in
                #expect(!event.data.before.exists() && event.data.after.exists())
            }
            #expect(try run(any, #"{"before":null,"after":{"text":"b"}}"#).1 == .result("null"))
            let number = OnValueCreated("f", ref: "x") { (event: DatabaseEvent<Int>) in #expect(event.data == 5) }
            #expect(try run(number, #"{"before":null,"after":5}"#).1 == .result("null"))
        }

        @Test func valuesThatTheHostDidNotKeep() throws {
            let dynamic = OnValueWritten("f", ref: "x") { event in
                #expect(event.isTruncated && !event.data.after.exists() && event.data.before.ref.path == "/messages/m1")
            }
            #expect(try run(dynamic, #"{"truncated":true}"#).1 == .result("null"))
            let typed = OnValueWritten("f", ref: "x") { (_: DatabaseEvent<Change<Message?>>) in }
            #expect(try run(typed, #"{"truncated":true}"#).1?.body.hasPrefix(#"{"code":"out-of-range""#) == true)
        }

        @Test func whatIsThrownFailsTheEvent() throws {
            struct Broken: Error {}
            let plain = OnValueCreated("f", ref: "x") { _ in throw Broken() }
            #expect(try run(plain, #"{"before":null,"after":1}"#).1 == .error(#"{"code":"unknown","message":"Broken()"}"#))
            let coded = OnValueCreated("f", ref: "x") { _ in throw HttpsError(.aborted, "later", details: [1]) }
            #expect(
                try run(coded, #"{"before":null,"after":1}"#).1 == .error(#"{"code":"aborted","message":"later","details":[1]}"#))
            let typed = OnValueCreated("f", ref: "x") { (_: DatabaseEvent<Message>) in }
            #expect(
                try run(typed, #"{"before":null,"after":{}}"#).1
                    == .error(#"{"code":"invalid-argument","message":"event.after.text is missing."}"#))
        }

        @Test func aDeadlineCancelsTheTask() throws {
            let host = try #require(
                FakeHost(Functions { OnValueWritten("f", ref: "x") { _ in try await Task.sleep(for: .seconds(3600)) } }))
            let id = host.start("f", #"{"before":null,"after":1}"#, context: context, deadline: MonotonicTime.now + 1_000_000_000)
            host.cancel(id)
            #expect(host.answer(of: id) == .error(#"{"code":"cancelled","message":"CANCELLED"}"#))
        }
    }
}
