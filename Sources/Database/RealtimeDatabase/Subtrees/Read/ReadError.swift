import Store

/// The reason why a part of the tree could not be read.
public enum ReadError: Error, Sendable, Hashable {
    /// The result is larger than the caller allows.
    case tooLarge
    /// The store has failed.
    case store(StoreError)
}
