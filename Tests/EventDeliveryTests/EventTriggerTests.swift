import HearthBytes
import HearthJSON
import Testing
import Tree

@testable import Configuration
@testable import EventDelivery
@testable import RealtimeDatabase

@Suite("Event triggers")
struct EventTriggerTests {
    private static let created = "google.firebase.database.ref.v1.created"

    private static func declaration(
        _ type: String = created, filters: [String: String] = [:], patterns: [String: String] = [:]
    ) throws -> TriggerDeclaration? {
        try EventTrigger(eventType: type, filters: filters, pathPatterns: patterns, retry: false).declaration(of: "f")
    }

    @Test("the second generation names path and instance, as a filter or as a pattern")
    func secondGeneration() throws {
        let any = try #require(try Self.declaration(patterns: ["ref": "/a/{b}/"]))
        #expect(any.kind == .created && any.pattern.text == "a/{b}" && any.instance.matches("whatever"))
        let one = try #require(try Self.declaration(filters: ["instance": "demo"], patterns: ["ref": "a"]))
        #expect(one.instance.matches("demo") && !one.instance.matches("demo-2"))
        let some = try #require(try Self.declaration(filters: ["ref": "a"], patterns: ["instance": "demo-*"]))
        #expect(some.instance.matches("demo-2") && !some.instance.matches("other"))
        #expect(try Self.declaration(patterns: ["ref": ""])?.pattern.matches(Path.root) == true)
    }

    @Test("the first generation names a resource")
    func firstGeneration() throws {
        let type = "providers/google.firebase.database/eventTypes/ref.delete"
        let found = try #require(try Self.declaration(type, filters: ["resource": "projects/_/instances/demo/refs/a/{b}"]))
        #expect(found.kind == .deleted && found.pattern.text == "a/{b}" && found.instance.matches("demo") && !found.instance.matches("other"))
        #expect(try Self.declaration(type, filters: ["resource": "projects/_/instances/demo/refs/"])?.pattern.text == "")
    }

    @Test("events of other services are none of the database's")
    func otherServices() throws {
        #expect(try Self.declaration("google.cloud.storage.object.v1.finalized", filters: ["bucket": "b"]) == nil)
    }

    @Test(
        "what names no place is refused",
        arguments: [
            ([:], [:]), (["resource": "projects/_/buckets/b"], [:]), (["resource": "projects/_/instances//refs/a"], [:]),
            ([:], ["ref": "a/{}"]), ([:], ["ref": "a", "instance": "**"]), ([:], ["ref": "{a}", "instance": "{a}"]),
        ] as [([String: String], [String: String])])
    func refuses(_ filters: [String: String], _ patterns: [String: String]) {
        #expect(throws: PathPatternError.self) { try Self.declaration(filters: filters, patterns: patterns) }
    }

    @Test("functions are told of an event in the words of both generations")
    func context() throws {
        var event = OutboxEvent(
            sequence: 1, id: "x-1", namespace: "demo", function: "f", kind: .updated, path: Path(["a", "b \"c\""]),
            params: [EventParameter(name: "k", value: "b \"c\"")], payload: [], time: 1_763_740_800_123, origin: EventOrigin(.user, id: "ada"),
            chain: EventChain().appending(EventChain.Link(event: "y", function: "g", path: "/g")), progress: DeliveryProgress(since: 0))
        event.progress.attempts = 2
        event.progress.interruptions = 1
        func written(_ generation: Int) throws -> JSONValue {
            var buffer = ByteBuffer()
            EventContext(event, generation: generation, region: "europe-west1", project: "demo").write(to: &buffer)
            return try JSONValue(parsing: buffer.array())
        }
        let expected: JSONValue = [
            "event": [
                "id": "x-1", "type": "google.firebase.database.ref.v1.updated",
                "source": "//firebasedatabase.googleapis.com/projects/_/locations/europe-west1/instances/demo",
                "subject": "refs/a/b \"c\"", "time": "2025-11-21T16:00:00.123Z", "instance": "demo", "ref": "a/b \"c\"",
                "location": "europe-west1", "params": ["k": "b \"c\""], "authType": "app_user", "authId": "ada", "attempt": 4, "chainDepth": 1,
            ]
        ]
        #expect(try written(2) == expected)
        #expect(try written(1)["event"]?["type"] == "providers/google.firebase.database/eventTypes/ref.update")
        event.origin = .unauthenticated
        #expect(try written(2)["event"]?["authId"] == nil)
    }
}
