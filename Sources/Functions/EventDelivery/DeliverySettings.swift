import RealtimeDatabase

/// How events are delivered and how patiently.
package struct DeliverySettings: Sendable {
    var retries = RetrySchedule()
    /// How many events may cause each other.
    var chainDepthMax = 16
    /// How many events that were given up are kept.
    var deadLetters = DeadLetterLimits()
    /// How long no dead letter was dropped before the next one is worth a line in the log.
    var dropReportMilliseconds: UInt64 = 60_000
    /// How often the worker may end during an event whose function does not ask for retries.
    var interruptionsMax = 5
    /// Events of a function that are in memory, at most.
    var loadedCountMax = 256
    /// The size of those.
    var loadedBytesMax = 8 << 20
    /// Events of one path that are in memory, at most: the others leave room for other paths.
    var loadedOfPathMax = 32
    /// Events of a function that are known by their number only, since an earlier one of their path waits.
    var heldCountMax = 10_000
    /// What is known of delivered events waits so long for more before it is made durable.
    var settleMilliseconds: UInt64 = 5
    /// How long delivery of a function rests when its pool takes nothing.
    var overloadMilliseconds: UInt64 = 100
    /// How long anything waits after a failure of the store.
    var storeRetryMilliseconds: UInt64 = 1000
}
