internal import HearthJSON

/// A due time of a scheduled function.
///
/// A run is repeated until the function has succeeded or its retries are over. All attempts have the same `id`.
public struct ScheduledEvent: Sendable {
    /// The name of the job, such as `firebase-schedule-nightly-us-central1`.
    public let jobName: String
    /// The due time in RFC 3339, such as "2026-11-21T02:00:00.000Z". The function may start later.
    public let scheduleTime: String
    /// The id of the run, the same in every attempt.
    public let id: String
    /// 1 at the first attempt, more when the run is repeated.
    public let attempt: Int
    private let invocation: Invocation

    /// The event's place in a trace, as a W3C `traceparent`.
    public var traceparent: String? { invocation.context.traceparent }
    /// The W3C `tracestate` of the trace, to be sent on with ``traceparent``.
    public var tracestate: String? { invocation.context.tracestate }
    /// The time at which the function's task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }

    init(_ invocation: Invocation) {
        let head = invocation.context.event ?? [:]
        jobName = head["jobName"]?.string ?? ""
        scheduleTime = head["scheduleTime"]?.string ?? ""
        id = head["id"]?.string ?? ""
        attempt = head["attempt"]?.int ?? 1
        self.invocation = invocation
    }
}

/// A function that runs at due times: in unix-cron, or in the syntax of App Engine.
///
///     OnSchedule("nightly", "every day 03:00", timeZone: "Europe/Berlin", retry: ScheduleRetryConfig(retryCount: 3)) { event in
///         try await database.reference("sessions").removeValue()
///     }
///     OnSchedule("reminders", "*/15 9-17 * * mon-fri") { event in ... }
///     OnSchedule("poll", "every 5 minutes") { event in ... }
///
/// Runs of one function do not overlap. Each due time is begun once, also across restarts and upgrades of the host; a run that a failure of the
/// machine has interrupted is made again.
public struct OnSchedule: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name.
    ///   - schedule: such as `0 3 * * *`, `every day 03:00`, `every 5 minutes` or `1st,third monday of month 09:00`.
    ///   - timeZone: the time zone, such as `Europe/Berlin`. Default: UTC.
    ///   - retry: how a failed run is repeated. Default: not at all.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init(
        _ name: String, _ schedule: String, timeZone: String? = nil, retry: ScheduleRetryConfig = .none, options: Options = Options(),
        _ handler: @escaping @Sendable (ScheduledEvent) async throws -> Void
    ) {
        let whole = EventHandler { invocation in try await handler(ScheduledEvent(invocation)) }
        let trigger = ScheduleDefinition(schedule: schedule, timeZone: timeZone, retry: retry)
        definitions = [FunctionDefinition(path: [name], options: options, trigger: .schedule(trigger), handler: whole)]
    }
}
