import RealtimeDatabase

/// The limits and retries of event delivery.
package struct DeliverySettings: Sendable {
    var retries = RetrySchedule()
    /// The longest chain of events that cause each other.
    var chainDepthMax = 16
    /// The most dead letters that are kept.
    var deadLetters = DeadLetterLimits()
    /// The time without dropped dead letters after which the next drop is logged.
    var dropReportMilliseconds: UInt64 = 60_000
    /// The most times that the worker may end during an event, for a function without retries.
    var interruptionsMax = 5
    /// The most events of a function in memory.
    var loadedCountMax = 256
    /// The most bytes of these events.
    var loadedBytesMax = 8 << 20
    /// The most events of one path in memory, so that other paths have room.
    var loadedOfPathMax = 32
    /// The most events of a function that were read, but left in the outbox because an earlier event of their path waits. Only their sequence
    /// numbers are in memory.
    var heldCountMax = 10_000
    /// How long settlements are collected before they are written in one transaction.
    var settleMilliseconds: UInt64 = 5
    /// How long delivery to a function pauses when its pool refuses an event.
    var overloadMilliseconds: UInt64 = 100
    /// The time between attempts after a failure of the store.
    var storeRetryMilliseconds: UInt64 = 1000
}
