import Synchronization

/// Hands a value over to another loop, which becomes its only owner.
///
/// The posting thread holds a posted closure until the post returns. A loop of higher priority may wake, run the closure and answer before
/// that; the closure's contents would then be released late, on the wrong thread. Taking the value out of a parcel avoids that.
public final class Parcel<Content: Sendable>: Sendable {
    private let content: Mutex<Content?>

    /// Packs the value; the sender must keep no reference to it.
    public init(_ content: consuming Content) { self.content = Mutex(content) }

    /// Takes the value out; nil if it was taken before.
    public func take() -> Content? {
        content.withLock { content in
            let taken = content
            content = nil
            return taken
        }
    }
}
