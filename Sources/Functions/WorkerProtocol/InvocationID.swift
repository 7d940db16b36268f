/// Names one call within one worker: a slot that is used again, and a generation that tells its users apart.
///
/// Both ends find the call's state by its slot, with no hashing. To a plugin it is a number without meaning, never 0.
public struct InvocationID: Hashable, Sendable, CustomStringConvertible {
    /// The number that crosses the boundary.
    public let rawValue: UInt64

    /// One more than the highest slot.
    public static let slotCountMax = 1 << 20

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter generation: 1 or more, so that no id is 0.
    @inlinable
    public init(slot: Int, generation: UInt64) { rawValue = generation << 20 | UInt64(truncatingIfNeeded: slot) }

    /// Where its state is kept, from 0 below ``slotCountMax``.
    @inlinable public var slot: Int { Int(rawValue & 0xF_FFFF) }

    /// How often the slot was taken, this call included.
    @inlinable public var generation: UInt64 { rawValue >> 20 }

    public var description: String { "\(rawValue)" }
}
