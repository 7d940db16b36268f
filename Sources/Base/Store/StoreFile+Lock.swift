public import Files

extension StoreFile {
    /// Locks a store against other processes. Returns nil for a store in memory.
    ///
    /// - Parameter contents: the contents in words, such as `messages`.
    /// - Throws: `StoreError` of the kind `busy` while another process has it.
    public static func lock(_ path: String, of contents: String) throws(StoreError) -> FileLock? {
        guard path != inMemory else { return nil }
        do throws(FileFailure) { return try FileLock("\(path).lock") } catch {
            guard !error.isBusy else {
                throw StoreError(.busy, "another process has the \(contents) of this data directory open; stop it first")
            }
            throw StoreError(systemError: error.code, "lock \(path).lock")
        }
    }
}
