import Store

extension StoreSchema {
    /// The tables of the store of apps. The header of the file contains `Hach`.
    ///
    /// - `app`: apps that an administrator has registered.
    /// - `debugToken`: secrets of developers' devices, hashed.
    /// - `challenge`: challenges that were given out, hashed, until they are used or expire.
    /// - `attestedKey`: keys of devices, by the hash of the handle that the device has for it; `created` is the time of its last use.
    static let appCheck = StoreSchema(
        kind: "a store of apps", applicationID: 0x4861_6368, migrations: [appCheckTables],
        additions: "CREATE INDEX IF NOT EXISTS attestedKeyApp ON attestedKey(app, created);")

    private static let appCheckTables = """
        CREATE TABLE app (id TEXT PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE debugToken (id TEXT PRIMARY KEY, app TEXT NOT NULL, name TEXT NOT NULL, hash BLOB NOT NULL, created INTEGER NOT NULL)
            WITHOUT ROWID;
        CREATE UNIQUE INDEX debugTokenHash ON debugToken(app, hash);
        CREATE TABLE challenge (hash BLOB PRIMARY KEY, app TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX challengeExpires ON challenge(expires);
        CREATE TABLE attestedKey (artifact BLOB PRIMARY KEY, app TEXT NOT NULL, publicKey BLOB NOT NULL, counter INTEGER NOT NULL,
            created INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX attestedKeyCreated ON attestedKey(created);
        """
}
