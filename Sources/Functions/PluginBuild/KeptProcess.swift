import CLinux
import Glibc

/// A program that runs under a keeper process, so that none of its descendants outlives it, this process, or ``BuildCancellation``.
///
/// Blocks: for a thread that may wait.
struct KeptProcess {
    private let keeper: Int32
    private let output: Int32
    private let cancellation: BuildCancellation

    /// Starts `arguments[0]`, a path.
    ///
    /// - Parameter cancellation: ends the program; if already cancelled, nothing is started.
    /// - Throws: `BuildFailure` when the system has no process or descriptor left, or the build was cancelled.
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
        // Closes the descriptor at once if already cancelled.
        cancellation.adopt(control)
    }

    /// Passes on the output, then returns the exit status, or 128 plus the signal's number.
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
        // The fields of the status word that WIFSIGNALED and WEXITSTATUS read.
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
