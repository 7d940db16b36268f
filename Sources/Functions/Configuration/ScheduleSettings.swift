/// When a function is due, and how a failed run is repeated. The texts are not checked here.
public struct ScheduleTrigger: Sendable, Equatable {
    /// In unix-cron or in the syntax of App Engine.
    public var schedule: String
    /// Such as `Europe/Berlin`.
    public var timeZone: String
    /// How a failed run is repeated.
    public var retry: BackoffRetry

    /// A schedule with its retries.
    public init(schedule: String, timeZone: String, retry: BackoffRetry = BackoffRetry()) {
        self.schedule = schedule
        self.timeZone = timeZone
        self.retry = retry
    }

    /// The zone of a schedule that names none.
    public static func standardTimeZone(generation: Int) -> String { generation == 1 ? "America/Los_Angeles" : "UTC" }

    /// The type of the events, which the deployed state keeps as that of the trigger.
    public static let eventType = "google.cloud.scheduler.job.v1.executed"

    /// The form in which the deployed state keeps a trigger.
    public var stored: EventTrigger {
        EventTrigger(eventType: Self.eventType, filters: ["schedule": schedule, "timeZone": timeZone], pathPatterns: [:], retry: false)
    }
}

/// The treatment of functions with schedules.
public struct ScheduleSettings: Sendable, Equatable {
    /// The treatment of due times that passed while the host was down, or while the function still ran.
    public enum Missed: String, Sendable {
        /// One run, for the last of them.
        case once
        /// No run.
        case skip
        /// A run for each of them, one after the other.
        case all
    }

    /// One run by default.
    public var missed: Missed

    /// Settings with this treatment of missed due times.
    public init(missed: Missed) { self.missed = missed }
}

extension ConfigurationReader {
    func schedules(_ field: Field) -> ScheduleSettings {
        ScheduleSettings(missed: field["missed"].choice(ScheduleSettings.Missed.self))
    }
}

extension ManifestReader {
    mutating func schedule(_ field: Field, generation: Int) -> ScheduleTrigger {
        let retry = retries(field["retryConfig"], count: "retryCount", BackoffRetry())
        return ScheduleTrigger(
            schedule: field["schedule"].stringIfPresent ?? "",
            timeZone: field["timeZone"].stringIfPresent ?? ScheduleTrigger.standardTimeZone(generation: generation), retry: retry)
    }
}
