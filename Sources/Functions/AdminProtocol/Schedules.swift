package import HearthJSON

/// A schedule in the list of schedules.
package struct ScheduleListEntry: AdminMessage {
    /// The name of the function.
    package var name: String
    /// Nil while the function cannot run, like the time zone.
    package var schedule: String?
    package var timeZone: String?
    /// `active`, `paused`, or `waiting` while the function cannot run.
    package var state: String
    /// Whether the run of the last due time is not settled.
    package var running: Bool
    /// The next due time, RFC 3339; nil if none is planned.
    package var next: String?
    /// The last due time that was begun or skipped, RFC 3339.
    package var lastDue: String?
    /// The end of the last run, RFC 3339.
    package var lastEnd: String?
    /// The error of the last run; nil after a success.
    package var lastError: String?

    package init(name: String, state: String, running: Bool) {
        self.name = name
        self.state = state
        self.running = running
    }
}

/// The answer to `GET schedules`.
package struct ScheduleList: AdminMessage {
    /// In the order of names.
    package var schedules: [ScheduleListEntry]

    package init(schedules: [ScheduleListEntry]) { self.schedules = schedules }
}

/// `POST schedules/NAME:run`.
package struct ScheduleRunRequest: AdminMessage {
    /// Whether the answer waits for the end of the first attempt.
    package var wait = true

    package init(wait: Bool) { self.wait = wait }

    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        guard let value = body["wait"], !value.isNull else { return }
        guard let wait = value.bool else { throw .invalid("wait must be true or false") }
        self.wait = wait
    }
}

/// The answer to `POST schedules/NAME:run`.
package struct ScheduleRunAnswer: AdminMessage {
    /// The id of the run.
    package var event: String
    /// `succeeded`, `failed`, or `begun` if its end was not waited for.
    package var outcome: String
    /// The function's error.
    package var error: String?

    package init(event: String, outcome: String, error: String?) {
        self.event = event
        self.outcome = outcome
        self.error = error
    }
}

/// The answer to `POST schedules/NAME:pause` and `:resume`.
package struct SchedulePauseAnswer: AdminMessage {
    package var name: String
    package var paused: Bool

    package init(name: String, paused: Bool) {
        self.name = name
        self.paused = paused
    }
}
