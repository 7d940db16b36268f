import RealtimeDatabase
import Store

extension StoreSchema {
    /// The tables of the store of schedules. The header of the file contains `Hsch`.
    ///
    /// - `schedule`: a function with a schedule. `since` is the second from which due times count, `due` the last due time that was begun or
    ///   skipped, `ended` the millisecond in which the last run ended, and `error` its error.
    /// - `outbox`, `deadLetters`, `meta`: the runs, as events in the form of the files of namespaces.
    static let schedules = StoreSchema(
        kind: "a store of schedules", applicationID: 0x4873_6368, migrations: [scheduleTables], additions: Outbox.tables)

    private static let scheduleTables = """
        CREATE TABLE schedule (name TEXT PRIMARY KEY, declaration TEXT NOT NULL, since INTEGER NOT NULL, due INTEGER, ended INTEGER, error TEXT,
            paused INTEGER NOT NULL) WITHOUT ROWID;
        """
}
