import Store

/// A place for namespaces.
public protocol StorageEngine: Sendable {
    /// Opens a namespace for its only writer. Creates it if it does not exist. Throws `busy` while another writer is open.
    func openWriter(namespace: String) throws(StoreError) -> any OrderedStore

    /// Opens a namespace for reading. Throws `notFound` if its writer was never opened.
    func openReader(namespace: String) throws(StoreError) -> sending any SnapshotStore

    /// The names of all namespaces, sorted.
    func namespaces() throws(StoreError) -> [String]

    /// Whether the namespace exists; false for an invalid name.
    func exists(namespace: String) -> Bool

    /// Deletes a namespace permanently. Throws `busy` while its writer is open. Does nothing if it does not exist.
    func deleteNamespace(_ namespace: String) throws(StoreError)

    /// Whether there is enough room to open a closed namespace again. Accesses the disk.
    var canReopen: Bool { get }

    /// Whether another process can take over the data.
    var canChangeHands: Bool { get }

    /// Excludes other processes from writing from now on, even before the first writer is opened. Throws `busy` if another process writes.
    func hold() throws(StoreError)

    /// Allows other processes to write, until a writer is opened here again. No writer may be open.
    func letGo()
}

/// The valid names of namespaces.
public enum NamespaceName {
    /// In characters, which are bytes.
    public static let lengthMax = 100

    /// Whether `name` consists of 1 to 100 lower-case ASCII letters, digits and hyphens.
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
