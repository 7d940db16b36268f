import HearthTesting
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct TaskQueues {
        @Test func theManifestHasRetriesAndRates() {
            let functions = Functions {
                OnTaskDispatched(
                    "mail",
                    retryConfig: RetryConfig(
                        maxAttempts: 5, maxRetrySeconds: 600, minBackoffSeconds: 10, maxBackoffSeconds: 300, maxDoublings: 2),
                    rateLimits: RateLimits(maxConcurrentDispatches: 6, maxDispatchesPerSecond: 0.5)
                ) { (_: TaskRequest<JSONValue>) in }
                OnTaskDispatched("plain") { (_: TaskRequest<Int>) in }
            }
            #expect(functions.problems.isEmpty)
            let endpoints = functions.manifest["endpoints"]
            #expect(
                endpoints?["mail"]?["taskQueueTrigger"] == [
                    "retryConfig": [
                        "maxAttempts": 5, "maxRetrySeconds": 600.0, "minBackoffSeconds": 10.0, "maxBackoffSeconds": 300.0, "maxDoublings": 2,
                    ],
                    "rateLimits": ["maxConcurrentDispatches": 6, "maxDispatchesPerSecond": 0.5],
                ])
            #expect(endpoints?["plain"]?["taskQueueTrigger"] == [:])
        }

        @Test func whatIsOutOfRangeIsAProblem() {
            let functions = Functions {
                OnTaskDispatched(
                    "a", retryConfig: RetryConfig(maxAttempts: 0, minBackoffSeconds: -1, maxDoublings: 17),
                    rateLimits: RateLimits(maxConcurrentDispatches: 0, maxDispatchesPerSecond: 501), options: Options(timeoutSeconds: 1801)
                ) { (_: TaskRequest<Int>) in }
            }
            #expect(
                functions.problems == [
                    #"Function "a": maxAttempts is 0, but must be 1 or more, or -1."#,
                    #"Function "a": maxDoublings is 17, but must be from 0 to 16."#,
                    #"Function "a": minBackoffSeconds is -1.0, but must not be negative."#,
                    #"Function "a": maxConcurrentDispatches is 0, but must be from 1 to 5000."#,
                    #"Function "a": maxDispatchesPerSecond is 501.0, but must be from 0.001 to 500."#,
                    #"Function "a": timeoutSeconds is 1801, but a function with a task queue has at most 1800."#,
                ])
        }

        @Test func testsRunTasks() async throws {
            let functions = Functions {
                OnTaskDispatched("work") { (request: TaskRequest<Int>) in
                    try await database.reference("work").setValue([
                        "id": .string(request.id), "queue": .string(request.queueName), "data": .int(Int64(request.data)),
                        "retries": .int(Int64(request.retryCount)),
                    ])
                }
                OnTaskDispatched("broken") { (_: TaskRequest<JSONValue>) in throw HttpsError(.aborted, "no") }
                OnCall("enqueue") { (request: CallableRequest<String>) in
                    let options = TaskOptions(scheduleDelaySeconds: 5, id: request.data.isEmpty ? nil : request.data, headers: ["X-A": "1"])
                    return try await tasks.queue("work").enqueue(7, options: options)
                }
                OnCall("delete") { (request: CallableRequest<String>) in try await tasks.queue("work").delete(request.data) }
            }
            try await functions.test { app in
                try await app.runTask("work", 5)
                let noted = try await database.reference("work").getData().value
                #expect(noted == ["id": "test-task", "queue": "work", "data": 5, "retries": 0])
                await #expect(throws: TestFailure("broken failed: aborted: no")) { try await app.runTask("broken", 1) }
                await #expect(throws: TestFailure("There is no task queue enqueue.")) { try await app.runTask("enqueue", 1) }
                #expect(try await app.call("enqueue", "one") == "one")
                let enqueued = await app.memory?.enqueuedTasks() ?? []
                #expect(enqueued == [["queue": "work", "data": 7, "id": "one", "scheduleDelaySeconds": 5, "headers": ["X-A": "1"]]])
                await #expect(throws: HttpsError.self) { try await app.call("enqueue", "one") }
                _ = try await app.call("delete", "one")
                #expect(await app.memory?.enqueuedTasks() == [])
                // An id that was made is not made again for another task.
                let first = try await app.call("enqueue", "")
                _ = try await app.call("delete", first)
                #expect(try await app.call("enqueue", "") != first)
            }
        }
    }
}
