public import Store

/// Reads a namespace in SQLite.
public final class SQLiteReader: SQLiteStore, SnapshotStore {
    private let reader: StoreReader

    init(path: String, settings: StoreSettings) throws(StoreError) {
        reader = try StoreReader(path, .namespace, settings)
        super.init(reader.connection, owner: reader)
    }

    public var isFrugal: Bool {
        get { reader.isFrugal }
        set { reader.isFrugal = newValue }
    }

    public func neverWait() { reader.neverWait() }

    public func beginSnapshot() throws(StoreError) { try reader.beginSnapshot() }

    public func endSnapshot() { reader.endSnapshot() }
}
