/// The process that this plugin was loaded into.
enum Worker {
    /// Whether the host made the process for this plugin alone. It says so by setting `HEARTH_WORKER=1`; otherwise process-wide
    /// settings are not ours to change.
    static let isThisProcess = environment("HEARTH_WORKER") == "1"
}
