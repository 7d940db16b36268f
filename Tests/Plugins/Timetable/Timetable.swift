import HearthFunctions

// The functions of docs/schedules.md, and others for tests.
let functions = Functions {
    OnSchedule("nightly", "every day 03:00", timeZone: "Europe/Berlin", retry: ScheduleRetryConfig(retryCount: 3)) { event in
        try await database.reference("nightly").childByAutoID().setValue(["due": .string(event.scheduleTime), "id": .string(event.id)])
    }
    OnSchedule("eachMinute", "* * * * *") { event in
        try await note("eachMinute", event)
    }
    // Fails as often as /failures says, and counts down.
    OnSchedule(
        "flaky", "0 12 * * *", retry: ScheduleRetryConfig(retryCount: 2, minBackoffSeconds: 0.1, maxBackoffSeconds: 0.1)
    ) { event in
        try await note("flaky", event)
        let failures = database.reference("failures")
        guard let left = try await failures.getData().value.int, left > 0 else { return }
        try await failures.setValue(.int(Int64(left - 1)))
        throw HttpsError(.aborted, "not yet")
    }
    // Ends when /go exists.
    OnSchedule("slow", "0 4 * * *", options: Options(timeoutSeconds: 120)) { event in
        try await note("slow", event)
        while try await !database.reference("go").getData().exists() { try await Task.sleep(for: .milliseconds(20)) }
        try await database.reference("ended").childByAutoID().setValue(.string(event.id))
    }
}

private func note(_ name: String, _ event: ScheduledEvent) async throws {
    try await database.reference("runs/\(name)").childByAutoID().setValue([
        "due": .string(event.scheduleTime), "id": .string(event.id), "attempt": .int(Int64(event.attempt)), "job": .string(event.jobName),
    ])
}
