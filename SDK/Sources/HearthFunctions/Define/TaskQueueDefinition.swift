internal import HearthJSON

/// How a failed task is repeated, as Cloud Tasks does it.
public struct RetryConfig: Sendable {
    /// The most attempts, with the first; -1 for as many as needed. Default: 3.
    public var maxAttempts: Int?
    /// How long a task is repeated from its first attempt on, even beyond ``maxAttempts``. Default: as long as ``maxAttempts`` lasts.
    public var maxRetrySeconds: Double?
    /// The time before the first repetition. Default: 0.1.
    public var minBackoffSeconds: Double?
    /// The longest time before a repetition. Default: 3600.
    public var maxBackoffSeconds: Double?
    /// How often the time doubles before it grows by equal steps, 0 to 16. Default: 16.
    public var maxDoublings: Int?

    /// Retries; an argument that is nil has the default of its property.
    public init(
        maxAttempts: Int? = nil, maxRetrySeconds: Double? = nil, minBackoffSeconds: Double? = nil, maxBackoffSeconds: Double? = nil,
        maxDoublings: Int? = nil
    ) {
        self.maxAttempts = maxAttempts
        self.maxRetrySeconds = maxRetrySeconds
        self.minBackoffSeconds = minBackoffSeconds
        self.maxBackoffSeconds = maxBackoffSeconds
        self.maxDoublings = maxDoublings
    }

    fileprivate var manifest: JSONObject {
        var object = JSONObject()
        object["maxAttempts"] = maxAttempts.map { .int(Int64($0)) }
        object["maxRetrySeconds"] = maxRetrySeconds.map { .double($0) }
        object["minBackoffSeconds"] = minBackoffSeconds.map { .double($0) }
        object["maxBackoffSeconds"] = maxBackoffSeconds.map { .double($0) }
        object["maxDoublings"] = maxDoublings.map { .int(Int64($0)) }
        return object
    }
}

/// How fast the tasks of a queue begin.
public struct RateLimits: Sendable {
    /// The most tasks that run at the same time, 1 to 5000. Default: 1000.
    public var maxConcurrentDispatches: Int?
    /// The most attempts that begin in a second, up to 500. Default: 500.
    public var maxDispatchesPerSecond: Double?

    /// Limits; an argument that is nil has the default of its property.
    public init(maxConcurrentDispatches: Int? = nil, maxDispatchesPerSecond: Double? = nil) {
        self.maxConcurrentDispatches = maxConcurrentDispatches
        self.maxDispatchesPerSecond = maxDispatchesPerSecond
    }

    fileprivate var manifest: JSONObject {
        var object = JSONObject()
        object["maxConcurrentDispatches"] = maxConcurrentDispatches.map { .int(Int64($0)) }
        object["maxDispatchesPerSecond"] = maxDispatchesPerSecond.map { .double($0) }
        return object
    }
}

/// The queue of a function.
struct TaskQueueDefinition: Sendable {
    let retry: RetryConfig
    let limits: RateLimits

    static let timeoutSecondsMax = 1800

    var manifest: JSONValue {
        var trigger = JSONObject()
        let (retries, rates) = (retry.manifest, limits.manifest)
        if !retries.isEmpty { trigger["retryConfig"] = .object(retries) }
        if !rates.isEmpty { trigger["rateLimits"] = .object(rates) }
        return .object(trigger)
    }

    /// The numbers that are out of range, each as a phrase without a full stop.
    var problems: [String] {
        var problems: [String] = []
        if let attempts = retry.maxAttempts, attempts < -1 || attempts == 0 {
            problems.append("maxAttempts is \(attempts), but must be 1 or more, or -1")
        }
        if let doublings = retry.maxDoublings, !(0...16).contains(doublings) {
            problems.append("maxDoublings is \(doublings), but must be from 0 to 16")
        }
        for (name, seconds) in [
            ("maxRetrySeconds", retry.maxRetrySeconds), ("minBackoffSeconds", retry.minBackoffSeconds),
            ("maxBackoffSeconds", retry.maxBackoffSeconds),
        ] {
            if let seconds, !(seconds >= 0 && seconds.isFinite) { problems.append("\(name) is \(seconds), but must not be negative") }
        }
        if let most = limits.maxConcurrentDispatches, !(1...5000).contains(most) {
            problems.append("maxConcurrentDispatches is \(most), but must be from 1 to 5000")
        }
        if let rate = limits.maxDispatchesPerSecond, !(rate >= 0.001 && rate <= 500) {
            problems.append("maxDispatchesPerSecond is \(rate), but must be from 0.001 to 500")
        }
        return problems
    }
}
