/// Where namespaces are kept.
public protocol StorageEngine: Sendable {
    /// Opens a namespace for its one writer, and makes it when it is not there. Throws `busy` while another writer is open.
    func openWriter(namespace: String) throws(StoreError) -> any OrderedStore

    /// Opens a namespace for reading; `notFound` before its writer was opened for the first time.
    func openReader(namespace: String) throws(StoreError) -> any SnapshotStore

    /// The names of all namespaces, sorted.
    func namespaces() throws(StoreError) -> [String]

    /// Whether there is such a namespace; false for what is no name.
    func exists(namespace: String) -> Bool

    /// Removes a namespace for good; `busy` while its writer is open, and nothing when it is not there.
    func deleteNamespace(_ namespace: String) throws(StoreError)

    /// Whether a namespace that is closed now can be opened again: that takes a little room. Asks the disk.
    var canReopen: Bool { get }

    /// Whether another process can go on with what is kept here.
    var canChangeHands: Bool { get }

    /// Keeps other processes from writing here from now on, also before the first writer is opened. Throws `busy` where one does.
    func hold() throws(StoreError)

    /// Nobody writes any more: another process may, until a writer is opened here again.
    func letGo()
}

/// What a namespace may be called.
public enum NamespaceName {
    /// In characters, each of which is one byte.
    public static let lengthMax = 100

    /// Whether `name` has from 1 to 100 lower case ASCII letters, digits and hyphens.
    public static func isValid(_ name: String) -> Bool {
        let bytes = name.utf8
        return (1...lengthMax).contains(bytes.count)
            && bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    static func check(_ name: String) throws(StoreError) {
        guard isValid(name) else {
            throw StoreError(.invalidName, "\"\(name.prefix(lengthMax))\" is not a namespace: lower case letters, digits and hyphens are allowed")
        }
    }
}
