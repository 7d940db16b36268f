import SQLite

/// Owners of installations. Only the owner may change a device that was registered with an installation's token. The owner is a random text in the
/// installation's tokens. It is kept for some time after the device has unregistered, so that no other caller can take the id.
extension MessagingStore {
    func owner(of fid: String) throws(SQLiteError) -> String? {
        guard case .text(let owner)? = try connection.value("SELECT owner FROM installation WHERE fid = ?1", .text(fid)) else { return nil }
        return owner
    }

    func setOwner(_ owner: String, of fid: String) throws(SQLiteError) {
        try connection.run("INSERT OR REPLACE INTO installation(fid, owner, gone) VALUES(?1, ?2, 0)", .text(fid), .text(owner))
    }

    /// Notes that the device of an installation has unregistered.
    func setGone(_ fid: String, _ now: Int64) throws(SQLiteError) {
        try connection.run("UPDATE installation SET gone = ?2 WHERE fid = ?1", .text(fid), .integer(now))
    }

    /// Deletes installations whose devices have unregistered before `time`, and the oldest of them beyond `count`; at most `limit`.
    ///
    /// - Returns: the number of deleted installations.
    func removeGone(before time: Int64, keeping count: Int, limit: Int) throws(SQLiteError) -> Int {
        let gone = "SELECT fid FROM installation WHERE gone > 0"
        let old = try connection.run(
            "DELETE FROM installation WHERE fid IN (\(gone) AND gone <= ?1 ORDER BY gone LIMIT ?2)", .integer(time), .integer(Int64(limit)))
        let excess = try connection.run(
            "DELETE FROM installation WHERE fid IN (\(gone) ORDER BY gone DESC LIMIT ?1 OFFSET ?2)", .integer(Int64(limit)), .integer(Int64(count)))
        return old + excess
    }
}
