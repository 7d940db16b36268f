import Synchronization

/// Something on its way to another loop, which has it alone once it has taken it.
///
/// A closure that is posted is held by the thread that posts it, too, until that goes on: a loop that goes before others may wake, work and
/// answer before. What the closure holds would then end, late, on a thread that it does not belong to.
public final class Parcel<Content: Sendable>: Sendable {
    private let content: Mutex<Content?>

    /// Packs it; the sender keeps nothing of it.
    public init(_ content: consuming Content) { self.content = Mutex(content) }

    /// Unpacks it; nil where that was done before.
    public func take() -> Content? {
        content.withLock { content in
            let taken = content
            content = nil
            return taken
        }
    }
}
