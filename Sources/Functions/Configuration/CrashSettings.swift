/// Crashes of functions.
public struct CrashSettings: Sendable, Equatable {
    /// Whether the memory of crashed workers is kept in files.
    public var coreDumps: Bool
    /// The most bytes of such a file.
    public var coreDumpBytes: Int
    /// The newest files to keep.
    public var coreDumpsKept: Int
}

extension ConfigurationReader {
    func crashes(_ field: Field) -> CrashSettings {
        CrashSettings(coreDumps: field["coreDumps"].bool, coreDumpBytes: field["coreDumpBytes"].int, coreDumpsKept: field["coreDumpsKept"].int)
    }
}
