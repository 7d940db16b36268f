/// Identifies one call within one worker: a slot, which is reused, and a generation, which distinguishes the users of a slot.
///
/// Both ends find the state of a call by its slot, without hashing. A worker has a lane to each loop of its host; the slots of its lanes
/// take turns, so that the slot also tells the lane. For a plugin it is an opaque number, never 0.
public struct InvocationID: Hashable, Sendable, CustomStringConvertible {
    /// The number that is passed to plugins.
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter generation: at least 1, so that no id is 0.
    @inlinable
    public init(slot: Int, generation: UInt64) { rawValue = generation << 20 | UInt64(truncatingIfNeeded: slot) }

    /// The index of the call's state, below 2^20.
    @inlinable public var slot: Int { Int(rawValue & 0xF_FFFF) }

    /// How often the slot has been used, including this call.
    @inlinable public var generation: UInt64 { rawValue >> 20 }

    /// The lane that the call came on.
    ///
    /// - Parameter laneCount: the number of lanes of the worker, at least 1.
    @inlinable
    public func lane(of laneCount: Int) -> Int { laneCount == 1 ? 0 : slot % laneCount }

    public var description: String { "\(rawValue)" }
}
