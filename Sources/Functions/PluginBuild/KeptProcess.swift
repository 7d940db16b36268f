import CLinux
import Glibc

/// A program that runs below a keeper, so that nothing that it has started outlives it, this process, or ``BuildCancellation``.
///
/// Blocks: for a thread that may wait.
struct KeptProcess {
    private let keeper: Int32
    private let output: Int32
    private let cancellation: BuildCancellation

    /// Starts `arguments[0]`, a path.
    ///
    /// - Parameter cancellation: ends the program; a cancelled one starts nothing.
    /// - Throws: `BuildFailure` when the system has no process or descriptor left, or it was cancelled.
    init(_ arguments: [String], environment: [String], directory: String, cancellation: BuildCancellation) throws(BuildFailure) {
        var output: Int32 = -1
        var control: Int32 = -1
        let code = Self.withPointers(arguments) { arguments in
            Self.withPointers(environment) { environment in linux_start_kept(arguments, environment, directory, &output, &control) }
        }
        guard code > 0 else {
            throw BuildFailure(.system, "\(arguments.first ?? "") cannot be started: \(String(cString: strerror(-code)))")
        }
        keeper = code
        self.output = output
        self.cancellation = cancellation
        // Closes it at once when it is cancelled already.
        cancellation.adopt(control)
    }

    /// Hands on what it writes, then how it ended: its exit status, or 128 and the signal's number.
    func run(_ receive: ([UInt8]) -> Void) -> Int {
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(output, &room, room.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            receive(Array(room[..<count]))
        }
        close(output)
        var status: Int32 = 0
        while waitpid(keeper, &status, 0) < 0 && errno == EINTR {}
        cancellation.release()
        // The two parts of the word, as WIFSIGNALED and WEXITSTATUS read them.
        let signal = Int(status & 0x7F)
        return signal != 0 ? 128 + signal : Int(status >> 8 & 0xFF)
    }

    private static func withPointers(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Int32) -> Int32 {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer($0) } + [nil]
        return pointers.withUnsafeBufferPointer { $0.baseAddress.map(body) ?? -EINVAL }
    }
}
