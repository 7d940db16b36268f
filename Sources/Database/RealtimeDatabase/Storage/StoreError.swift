/// Why a store could not do what it was asked for.
public struct StoreError: Error, Sendable, Hashable {
    /// What a caller can act on.
    public enum Kind: UInt8, Sendable, Hashable {
        /// There is no room: works again when there is.
        case full
        /// The disk or the folder cannot be written to.
        case readOnly
        /// The file is damaged, or not one of ours.
        case corrupt
        /// Somebody else has the namespace open for writing.
        case busy
        /// No descriptor or no memory: works again when there is.
        case exhausted
        /// The disk fails.
        case io
        /// The namespace's name is not one.
        case invalidName
        /// There is no such namespace.
        case notFound
        /// It was ended before it was complete.
        case interrupted
        /// Everything else.
        case other
    }

    /// What a caller can act on.
    public var kind: Kind
    /// For the host's log: what was tried and what the system said.
    public var message: String

    /// An error whose message goes to the host's log, never to a client.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String { message }
}
