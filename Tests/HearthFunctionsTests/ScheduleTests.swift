import HearthTesting
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct Schedules {
        @Test func theManifestHasScheduleAndRetries() {
            let functions = Functions(defaults: Options(memory: .mib512, cors: true)) {
                OnSchedule(
                    "nightly", "every day 03:00", timeZone: "Europe/Berlin",
                    retry: ScheduleRetryConfig(
                        retryCount: 3, maxRetrySeconds: 600, minBackoffSeconds: 10, maxBackoffSeconds: 300, maxDoublings: 2)
                ) { _ in }
                Group("reports") { OnSchedule("weekly", "0 9 * * mon", options: Options(timeoutSeconds: 1800)) { _ in } }
            }
            #expect(functions.problems.isEmpty)
            let endpoints = functions.manifest["endpoints"]
            #expect(
                endpoints?["nightly"] == [
                    "entryPoint": "nightly", "platform": "gcfv2", "availableMemoryMb": 512,
                    "scheduleTrigger": [
                        "schedule": "every day 03:00", "timeZone": "Europe/Berlin",
                        "retryConfig": [
                            "retryCount": 3, "maxRetrySeconds": 600.0, "minBackoffSeconds": 10.0, "maxBackoffSeconds": 300.0, "maxDoublings": 2,
                        ],
                    ],
                ])
            #expect(endpoints?["reports-weekly"]?["scheduleTrigger"] == ["schedule": "0 9 * * mon"])
        }

        @Test func whatIsOutOfRangeIsAProblem() {
            let functions = Functions {
                OnSchedule("a", "", retry: ScheduleRetryConfig(retryCount: 6, minBackoffSeconds: -1, maxDoublings: 17)) { _ in }
                OnSchedule("b", "* * * * *", options: Options(timeoutSeconds: 1801)) { _ in }
            }
            #expect(
                functions.problems == [
                    #"Function "a": its schedule is empty."#, #"Function "a": retryCount is 6, but must be from 0 to 5."#,
                    #"Function "a": maxDoublings is 17, but must be from 0 to 16."#,
                    #"Function "a": minBackoffSeconds is -1.0, but must not be negative."#,
                    #"Function "b": timeoutSeconds is 1801, but a scheduled function has at most 1800."#,
                ])
        }

        @Test func testsRunSchedules() async throws {
            let functions = Functions {
                OnSchedule("tick", "every 24 hours") { event in
                    try await database.reference("tick").setValue([
                        "job": .string(event.jobName), "id": .string(event.id), "attempt": .int(Int64(event.attempt)),
                        "time": .string(event.scheduleTime),
                    ])
                }
                OnSchedule("broken", "every 24 hours") { _ in throw HttpsError(.aborted, "no") }
                OnCall("call") { (_: CallableRequest<JSONValue>) in 1 }
            }
            try await functions.test { app in
                try await app.runSchedule("tick")
                let noted = try await database.reference("tick").getData().value
                #expect(noted["job"] == "firebase-schedule-tick-us-central1" && noted["attempt"] == 1 && noted["id"] == "test-schedule")
                #expect(noted["time"]?.string?.hasSuffix("Z") == true)
                await #expect(throws: TestFailure("broken failed: aborted: no")) { try await app.runSchedule("broken") }
                await #expect(throws: TestFailure("There is no scheduled function call.")) { try await app.runSchedule("call") }
            }
        }
    }
}
