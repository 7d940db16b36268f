import RealtimeDatabase
import Store

extension StoreSchema {
    /// The tables of the store of tasks. The header of the file contains `Htsk`.
    ///
    /// - `queue`: a queue, with the number and the size of its tasks.
    /// - `later`: tasks whose time has not come, as rows of the outbox. `due` is in milliseconds since 1970.
    /// - `name`: the name of a task, where its id does not say what its sequence is, or where it must stay unique. `ended` is the millisecond in
    ///   which the task has ended, for a name that its enqueuer gave; until an hour later, the name is in use.
    /// - `outbox`, `deadLetters`, `meta`: tasks that are due, as events in the form of the files of namespaces.
    static let tasks = StoreSchema(
        kind: "a store of tasks", applicationID: 0x4874_736B, migrations: [taskTables], additions: Outbox.tables)

    private static let taskTables = """
        CREATE TABLE queue (name TEXT PRIMARY KEY, paused INTEGER NOT NULL, count INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE later (sequence INTEGER PRIMARY KEY, queue TEXT NOT NULL, due INTEGER NOT NULL, row BLOB NOT NULL);
        CREATE INDEX later_due ON later(due);
        CREATE INDEX later_queue ON later(queue, due);
        CREATE TABLE name (queue TEXT NOT NULL, id TEXT NOT NULL, sequence INTEGER NOT NULL, given INTEGER NOT NULL, ended INTEGER,
            PRIMARY KEY (queue, id)) WITHOUT ROWID;
        CREATE INDEX name_sequence ON name(queue, sequence);
        CREATE INDEX name_ended ON name(ended) WHERE ended IS NOT NULL;
        """
}
