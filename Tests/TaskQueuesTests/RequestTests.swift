import AdminProtocol
import FuzzSupport
import HearthJSON
import RealtimeDatabase
import Testing

@testable import TaskQueues

/// Bodies of requests that create tasks.
@Suite struct RequestTests {
    private static let path = TaskPath(Array("/v2/projects/demo/locations/us-central1/queues/q/tasks".utf8).span)

    private static func task(_ text: String) throws -> NewTask {
        let path = try #require(path)
        let bytes = Array(text.utf8)
        return try TaskRequestReader.task(bytes.span, at: path)
    }

    @Test func theBodyOfAnAdminSDK() throws {
        let task = try Self.task(
            """
            {"task": {"name": "projects/demo/locations/us-central1/queues/q/tasks/one", "scheduleTime": "2026-03-02T01:00:00.0005+01:00",
            "dispatchDeadline": "30s", "httpRequest": {"url": "https://example.com", "body": "eyJkYXRhIjogeyJhIjogMX19",
            "headers": {"Content-Type": "application/json", "X-Shop": "1", "X-CloudTasks-QueueName": "q"}, "oidcToken": {}}}}
            """)
        #expect(task.id == "one" && task.queue == "q" && task.payload == Array(#"{"a": 1}"#.utf8))
        #expect(task.due == 1_772_409_600_001 && task.limitMilliseconds == 30_000)
        #expect(task.headers == [EventParameter(name: "x-shop", value: "1")])
    }

    @Test func base64OfBothAlphabets() {
        #expect(TaskRequestReader.bytes(base64: "+/8=") == [0xFB, 0xFF] && TaskRequestReader.bytes(base64: "-_8") == [0xFB, 0xFF])
        #expect(TaskRequestReader.bytes(base64: "a") == nil && TaskRequestReader.bytes(base64: "a b=") == nil)
    }

    @Test func aBodyIsRefusedOrItsTaskIsValid() throws {
        let words = ["\"task\":", "\"httpRequest\":", "\"body\":", "\"name\":", "\"headers\":{", "eyJkYXRhIjoxfQ==", "\"scheduleTime\":\"", "s\""]
        let run = FuzzRun(try FuzzCorpus.load("Tasks/corpus"), words: words, rounds: 5000)
        let path = try #require(Self.path)
        let complaint = run.complaint { bytes in
            do throws(TaskError) {
                let task = try TaskRequestReader.task(bytes.span, at: path)
                if (try? JSONValue(parsing: task.payload)) == nil { return "the data is not JSON" }
                if let id = task.id, !TaskService.isID(id) { return "the id is not valid" }
                let isCrooked = task.headers.contains { $0.name != $0.name.lowercased() || $0.value.contains("\n") }
                if isCrooked { return "a header field is not valid" }
                return nil
            } catch {
                return error.code == .invalidArgument ? nil : "it is refused as \(error.code)"
            }
        }
        #expect(complaint == nil)
    }
}
