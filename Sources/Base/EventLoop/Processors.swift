import CLinux

/// The processors of the machine.
public enum Processors {
    /// How many this process may run on, at least 1: its affinity can leave some out.
    public static let available = Int(linux_processor_count())
}
