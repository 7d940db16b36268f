internal import HearthJSON

/// How a failed run of a scheduled function is repeated, as Cloud Scheduler does it. The next due time ends the repetitions.
public struct ScheduleRetryConfig: Sendable {
    /// The most repetitions, 0 to 5. Default: 0.
    public var retryCount: Int?
    /// How long a run is repeated, even beyond ``retryCount``. Default: as long as ``retryCount`` lasts.
    public var maxRetrySeconds: Double?
    /// The time before the first repetition. Default: 5.
    public var minBackoffSeconds: Double?
    /// The longest time before a repetition. Default: 3600.
    public var maxBackoffSeconds: Double?
    /// How often the time doubles before it grows by equal steps, 0 to 16. Default: 5.
    public var maxDoublings: Int?

    /// Retries; an argument that is nil has the default of its property.
    public init(
        retryCount: Int? = nil, maxRetrySeconds: Double? = nil, minBackoffSeconds: Double? = nil, maxBackoffSeconds: Double? = nil,
        maxDoublings: Int? = nil
    ) {
        self.retryCount = retryCount
        self.maxRetrySeconds = maxRetrySeconds
        self.minBackoffSeconds = minBackoffSeconds
        self.maxBackoffSeconds = maxBackoffSeconds
        self.maxDoublings = maxDoublings
    }

    /// No repetitions.
    public static let none = ScheduleRetryConfig()

    fileprivate var manifest: JSONObject {
        var object = JSONObject()
        object["retryCount"] = retryCount.map { .int(Int64($0)) }
        object["maxRetrySeconds"] = maxRetrySeconds.map { .double($0) }
        object["minBackoffSeconds"] = minBackoffSeconds.map { .double($0) }
        object["maxBackoffSeconds"] = maxBackoffSeconds.map { .double($0) }
        object["maxDoublings"] = maxDoublings.map { .int(Int64($0)) }
        return object
    }
}

/// The due times of a function.
struct ScheduleDefinition: Sendable {
    let schedule: String
    let timeZone: String?
    let retry: ScheduleRetryConfig

    static let timeoutSecondsMax = 1800

    var manifest: JSONValue {
        var trigger: JSONObject = ["schedule": .string(schedule)]
        trigger["timeZone"] = timeZone.map { .string($0) }
        let retries = retry.manifest
        if !retries.isEmpty { trigger["retryConfig"] = .object(retries) }
        return .object(trigger)
    }

    /// The numbers that are out of range, each as a phrase without a full stop. The host checks the texts.
    var problems: [String] {
        var problems = schedule.isEmpty ? ["its schedule is empty"] : []
        if let count = retry.retryCount, !(0...5).contains(count) { problems.append("retryCount is \(count), but must be from 0 to 5") }
        if let doublings = retry.maxDoublings, !(0...16).contains(doublings) {
            problems.append("maxDoublings is \(doublings), but must be from 0 to 16")
        }
        for (name, seconds) in [
            ("maxRetrySeconds", retry.maxRetrySeconds), ("minBackoffSeconds", retry.minBackoffSeconds),
            ("maxBackoffSeconds", retry.maxBackoffSeconds),
        ] {
            if let seconds, !(seconds >= 0 && seconds.isFinite) { problems.append("\(name) is \(seconds), but must not be negative") }
        }
        return problems
    }
}
