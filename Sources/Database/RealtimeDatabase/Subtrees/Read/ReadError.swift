/// Why something of the tree could not be read.
public enum ReadError: Error, Sendable, Hashable {
    /// It is longer than the caller allows.
    case tooLarge
    /// What keeps it failed.
    case store(StoreError)
}
