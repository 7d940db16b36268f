import RealtimeDatabase
import Store

extension StoreSchema {
    /// The tables of the store of users. The header of the file contains `Huse`.
    ///
    /// - `user`: a user; `record` is JSON. The other columns are those by which users are found and sorted.
    /// - `link`: accounts of identity providers, by their ids; `linkEmail`: by the e-mail that the provider asserts.
    /// - `session`: refresh tokens. A used one is kept for a moment, so that an answer that was lost can be repeated.
    /// - `code`: codes of e-mails (`newEmail` is the id of a second factor for codes that remove one).
    /// - `message`: codes of text messages; `proof`: other secrets that are valid for a moment.
    /// - `replay`: credentials that may be used once.
    /// - `attempt`: failed attempts, by account or address.
    /// - `tenant`, `provider`, `setting`: configuration that administrators change, in JSON.
    /// - `notice`: mails about the security of an account that were not sent yet, encrypted.
    /// - `outbox`, `deadLetters`, `meta`: events of users for functions, as in the files of namespaces.
    static let accounts = StoreSchema(
        kind: "a store of users", applicationID: 0x4875_7365, migrations: [accountTables],
        additions: Outbox.tables + ownerIndexes + notices + messagePhoneIndex + removalTable)

    /// Finds the messages of a number for tests.
    private static let messagePhoneIndex = "CREATE INDEX IF NOT EXISTS messagePhone ON message(tenant, phone);"

    /// Deleted tenants whose users are being removed.
    private static let removalTable = "CREATE TABLE IF NOT EXISTS removal (tenant TEXT PRIMARY KEY) WITHOUT ROWID;"

    /// Finds what was sent to a user, or waits for one.
    private static let ownerIndexes = ["code", "message", "proof"].map { table in
        "CREATE INDEX IF NOT EXISTS \(table)Owner ON \(table)(tenant, uid) WHERE uid IS NOT NULL;"
    }.joined()

    /// An id is used once: the sender knows a notice by it.
    private static let notices = """
        CREATE TABLE IF NOT EXISTS notice (id INTEGER PRIMARY KEY AUTOINCREMENT, created INTEGER NOT NULL, content TEXT NOT NULL);
        """

    private static let accountTables = """
        CREATE TABLE user (tenant TEXT NOT NULL, uid TEXT NOT NULL, email TEXT, phone TEXT, name TEXT, created INTEGER NOT NULL,
            signedIn INTEGER, record TEXT NOT NULL, PRIMARY KEY (tenant, uid)) WITHOUT ROWID;
        CREATE UNIQUE INDEX userEmail ON user(tenant, email) WHERE email IS NOT NULL;
        CREATE UNIQUE INDEX userPhone ON user(tenant, phone) WHERE phone IS NOT NULL;
        CREATE INDEX userName ON user(tenant, name, uid);
        CREATE INDEX userCreated ON user(tenant, created, uid);
        CREATE INDEX userSignedIn ON user(tenant, signedIn, uid);
        CREATE TABLE userCount (tenant TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TRIGGER userAdded AFTER INSERT ON user BEGIN
            INSERT INTO userCount VALUES (new.tenant, 1) ON CONFLICT DO UPDATE SET count = count + 1;
        END;
        CREATE TRIGGER userRemoved AFTER DELETE ON user BEGIN
            UPDATE userCount SET count = count - 1 WHERE tenant = old.tenant;
        END;
        CREATE TABLE link (tenant TEXT NOT NULL, provider TEXT NOT NULL, rawID TEXT NOT NULL, uid TEXT NOT NULL, email TEXT,
            PRIMARY KEY (tenant, provider, rawID)) WITHOUT ROWID;
        CREATE INDEX linkUser ON link(tenant, uid);
        CREATE INDEX linkEmail ON link(tenant, email) WHERE email IS NOT NULL;
        CREATE TABLE session (hash BLOB PRIMARY KEY, family BLOB NOT NULL, tenant TEXT NOT NULL, uid TEXT NOT NULL, provider TEXT NOT NULL,
            factor TEXT, factorID TEXT, claims TEXT, attributes TEXT, authTime INTEGER NOT NULL, created INTEGER NOT NULL,
            used INTEGER NOT NULL, successor BLOB) WITHOUT ROWID;
        CREATE INDEX sessionUser ON session(tenant, uid);
        CREATE INDEX sessionFamily ON session(family);
        CREATE INDEX sessionUsed ON session(used) WHERE successor IS NOT NULL;
        CREATE TABLE code (hash BLOB PRIMARY KEY, tenant TEXT NOT NULL, type TEXT NOT NULL, email TEXT NOT NULL, newEmail TEXT, uid TEXT,
            created INTEGER NOT NULL, expires INTEGER NOT NULL, shown TEXT) WITHOUT ROWID;
        CREATE INDEX codeShown ON code(tenant, created) WHERE shown IS NOT NULL;
        CREATE INDEX codeExpires ON code(expires);
        CREATE INDEX codeUser ON code(tenant, email);
        CREATE TABLE message (hash BLOB PRIMARY KEY, tenant TEXT NOT NULL, purpose TEXT NOT NULL, phone TEXT NOT NULL, uid TEXT,
            code BLOB NOT NULL, attempts INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL, shown TEXT) WITHOUT ROWID;
        CREATE INDEX messageShown ON message(tenant, created) WHERE shown IS NOT NULL;
        CREATE INDEX messageExpires ON message(expires);
        CREATE TABLE proof (hash BLOB PRIMARY KEY, kind TEXT NOT NULL, tenant TEXT NOT NULL, uid TEXT, content TEXT NOT NULL,
            attempts INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX proofExpires ON proof(expires);
        CREATE TABLE replay (hash BLOB PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX replayExpires ON replay(expires);
        CREATE TABLE attempt (key TEXT PRIMARY KEY, count INTEGER NOT NULL, ends INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX attemptEnds ON attempt(ends);
        CREATE TABLE tenant (id TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE provider (tenant TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, document TEXT NOT NULL,
            PRIMARY KEY (tenant, kind, id)) WITHOUT ROWID;
        CREATE TABLE setting (key TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
        """
}
