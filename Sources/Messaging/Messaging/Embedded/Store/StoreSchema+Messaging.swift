import Store

extension StoreSchema {
    /// The tables of the store of messages. The header of the file contains `Hmsg`.
    ///
    /// - `device`: a registered installation. Deleted when it unregisters.
    /// - `topic`, `subscription`: the devices of each topic, and the topics of each device.
    /// - `message`: an accepted message. Kept while it waits for a device, and then as long as outcomes are kept.
    /// - `pending`: a row for each device that a message waits for. Deleted when the device acknowledges it, or when it expires.
    /// - `fanout`: the progress of messages to many devices that have not been distributed completely.
    /// - `outcome`: the outcome of a message at a device.
    /// - `accountScopes`: the bounds of service accounts that may not do everything, as `Scopes.rawValue`.
    /// - `installation`: the owner of a device's registration. Kept for some time after the device has unregistered.
    static let messaging = StoreSchema(
        kind: "a store of messages", applicationID: 0x486D_7367, migrations: [messagingTables], additions: messagingAdditions)

    private static let messagingTables = """
        CREATE TABLE device (id INTEGER PRIMARY KEY, project TEXT NOT NULL, fid TEXT NOT NULL, token TEXT NOT NULL, platform TEXT NOT NULL,
            package TEXT NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL, created INTEGER NOT NULL, seen INTEGER NOT NULL,
            uninstalled INTEGER NOT NULL, overflowed INTEGER NOT NULL);
        CREATE UNIQUE INDEX deviceToken ON device(token);
        CREATE UNIQUE INDEX deviceFid ON device(fid);
        CREATE INDEX deviceSeen ON device(seen);
        CREATE TABLE topic (id INTEGER PRIMARY KEY, project TEXT NOT NULL, name TEXT NOT NULL, subscribers INTEGER NOT NULL);
        CREATE UNIQUE INDEX topicName ON topic(project, name);
        CREATE TABLE subscription (topic INTEGER NOT NULL, device INTEGER NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (topic, device))
            WITHOUT ROWID;
        CREATE INDEX subscriptionDevice ON subscription(device, topic);
        CREATE TABLE message (id INTEGER PRIMARY KEY, project TEXT NOT NULL, form INTEGER NOT NULL, body BLOB NOT NULL, sent INTEGER NOT NULL,
            remaining INTEGER NOT NULL);
        CREATE INDEX messageDone ON message(sent) WHERE remaining = 0;
        CREATE TABLE pending (device INTEGER NOT NULL, message INTEGER NOT NULL, collapse TEXT, priority INTEGER NOT NULL, ttl INTEGER NOT NULL,
            expires INTEGER NOT NULL, PRIMARY KEY (device, message)) WITHOUT ROWID;
        CREATE INDEX pendingExpires ON pending(expires);
        CREATE TABLE fanout (message INTEGER PRIMARY KEY, cursor INTEGER NOT NULL);
        CREATE TABLE outcome (message INTEGER NOT NULL, device INTEGER NOT NULL, fid TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
            at INTEGER NOT NULL, PRIMARY KEY (message, device)) WITHOUT ROWID;
        CREATE TABLE idempotency (key TEXT PRIMARY KEY, name TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX idempotencyAt ON idempotency(at);
        CREATE TABLE account (email TEXT PRIMARY KEY, project TEXT NOT NULL, keyID TEXT NOT NULL, publicKey BLOB NOT NULL, created INTEGER NOT NULL)
            WITHOUT ROWID;
        """

    /// Programs without a limit for new devices did not update `seen` when a device of a push service received a message. The first statement
    /// corrects this, once.
    private static let messagingAdditions = """
        UPDATE device SET seen = created + 1
            WHERE seen = created AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'installation');
        CREATE TABLE IF NOT EXISTS accountScopes (email TEXT PRIMARY KEY, scopes INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS installation (fid TEXT PRIMARY KEY, owner TEXT NOT NULL, gone INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS installationGone ON installation(gone) WHERE gone > 0;
        CREATE INDEX IF NOT EXISTS deviceNew ON device(created) WHERE seen = created;
        """
}
