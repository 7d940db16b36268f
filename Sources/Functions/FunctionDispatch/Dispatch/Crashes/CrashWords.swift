import CLinux
import EventLoop
import FunctionWorker
import Glibc
import HearthBytes

/// Describes in words why a worker ended.
enum CrashWords {
    /// Describes how a process ended.
    ///
    /// - Parameters:
    ///   - crash: its crash report, if it could write one.
    ///   - message: the message that Swift's runtime printed before.
    static func describe(_ ending: ChildProcess.Ending, _ crash: CrashReport?, message: String?) -> String {
        guard ending.signal != 0 else { return "it ended itself with exit status \(ending.status)" }
        let signal = Int32(truncatingIfNeeded: ending.signal)
        if let crash, crash.signal == signal { return describe(crash, message: message) }
        return "it was ended by \(name(signal))"
    }

    /// Describes a fault, with its signal.
    static func describe(_ crash: CrashReport, message: String?) -> String {
        "it crashed: \(cause(crash, message: message)) (\(name(crash.signal)))"
    }

    /// Describes a fault, without its signal.
    static func cause(_ crash: CrashReport, message: String?) -> String {
        if let message, [SIGILL, SIGTRAP, SIGABRT].contains(crash.signal) { return message }
        let place = "address 0x" + String(crash.address, radix: 16)
        switch crash.signal {
        case SIGSEGV where isStackOverflow(crash): return "stack overflow, as from a function that calls itself without end"
        // The kernel sends this code for an address that no program can have.
        case SIGSEGV where crash.code == linux_si_kernel(): return "segmentation fault: access to an impossible address"
        case SIGSEGV where crash.code <= 0: return "segmentation fault, sent by a process"
        case SIGSEGV where crash.address == 0: return "segmentation fault: access through a null pointer"
        case SIGSEGV where crash.address < 4096: return "segmentation fault: access through a null pointer, at \(place)"
        case SIGSEGV: return "segmentation fault: access to \(place)"
        case SIGBUS: return "bus error: access to \(place)"
        case SIGFPE: return crash.code == 1 ? "division by zero" : "arithmetic error"
        case SIGABRT: return "abort() was called"
        case SIGSYS: return "a system call that is not allowed"
        // A failed check of Swift ends in this instruction. In optimized code it has no message.
        case SIGILL, SIGTRAP: return "trap: a check of Swift's failed, such as an index out of range, an overflow, or nil"
        default: return "fault"
        }
    }

    /// Whether the address is near the stack pointer: the stack has grown into the guard page below it.
    private static func isStackOverflow(_ crash: CrashReport) -> Bool {
        let reach: UInt64 = 64 * 1024
        return crash.address >= 4096 && crash.address < crash.stack &+ reach && crash.address &+ reach > crash.stack
    }

    /// The signal's number and name: `signal 11, SIGSEGV`.
    private static func name(_ signal: Int32) -> String {
        let names = [
            SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGSYS: "SIGSYS",
            SIGKILL: "SIGKILL", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGPIPE: "SIGPIPE",
        ]
        return names[signal].map { "signal \(signal), \($0)" } ?? "signal \(signal)"
    }

    /// The message in a line that Swift's runtime printed, such as `Fatal error: Index out of range`; nil for other lines.
    static func fatalMessage(in line: Span<UInt8>) -> String? {
        let mark: StaticString = "Fatal error"
        guard line.count >= mark.utf8CodeUnitCount else { return nil }
        for start in 0...line.count - mark.utf8CodeUnitCount where line[start] == mark.utf8Start[0] {
            guard (0..<mark.utf8CodeUnitCount).allSatisfy({ line[start + $0] == mark.utf8Start[$0] }) else { continue }
            let text = line.extracting(start..<min(line.count, start + 1024)).string()
            return text.split(separator: "\n").first.map { "fatal" + $0.dropFirst("Fatal".count) }
        }
        return nil
    }
}
