/// The retries of failed runs and tasks, with the meaning that Cloud Scheduler and Cloud Tasks give them. The defaults are those of runs.
public struct BackoffRetry: Sendable, Equatable {
    /// The most repetitions; `Int.max` for as many as needed.
    public var count: Int
    /// How long is repeated, from the first attempt on, even beyond ``count``; 0 for as long as ``count`` lasts.
    public var maxSeconds: Double
    /// The time before the first repetition.
    public var minBackoffSeconds: Double
    /// The longest time before a repetition.
    public var maxBackoffSeconds: Double
    /// How often the time doubles before it grows by equal steps.
    public var maxDoublings: Int

    /// The defaults: no repetitions.
    public init(
        count: Int = 0, maxSeconds: Double = 0, minBackoffSeconds: Double = 5, maxBackoffSeconds: Double = 3600, maxDoublings: Int = 5
    ) {
        self.count = count
        self.maxSeconds = maxSeconds
        self.minBackoffSeconds = minBackoffSeconds
        self.maxBackoffSeconds = maxBackoffSeconds
        self.maxDoublings = maxDoublings
    }

    /// The time before repetition number `number`, from 1: it doubles some times, then grows by the last step, up to a limit.
    public func backoffMilliseconds(beforeRepetition number: Int) -> Int64 {
        let doublings = min(max(number - 1, 0), maxDoublings)
        let steps = max(number - maxDoublings, 1)
        let seconds = min(minBackoffSeconds * Double(1 << doublings) * Double(steps), maxBackoffSeconds)
        return Int64(seconds * 1000)
    }

    /// Whether there is a repetition after `failures` failures, `milliseconds` after the begin.
    public func goesOn(failures: Int, milliseconds: Int64) -> Bool {
        // Cloud Scheduler and Cloud Tasks repeat until both limits are reached.
        failures <= count || Double(milliseconds) < maxSeconds * 1000
    }
}

extension ManifestReader {
    /// Reads retries whose repetitions, or attempts, are counted by the member `count`.
    mutating func retries(_ field: Field, count: String, _ standard: BackoffRetry) -> BackoffRetry {
        let retry = BackoffRetry(
            count: field[count].intIfPresent ?? standard.count, maxSeconds: field["maxRetrySeconds"].doubleIfPresent ?? standard.maxSeconds,
            minBackoffSeconds: field["minBackoffSeconds"].doubleIfPresent ?? standard.minBackoffSeconds,
            maxBackoffSeconds: field["maxBackoffSeconds"].doubleIfPresent ?? standard.maxBackoffSeconds,
            maxDoublings: field["maxDoublings"].intIfPresent ?? standard.maxDoublings)
        if retry.minBackoffSeconds > retry.maxBackoffSeconds {
            fail(
                field,
                "minBackoffSeconds is \(retry.minBackoffSeconds.plain), which is more than maxBackoffSeconds, \(retry.maxBackoffSeconds.plain)")
        }
        return retry
    }
}
