import HearthBytes
import CommandClient
import Glibc
import HearthJSON

/// JSON that a command is given: with `--data`, in a file, or on standard input.
final class InputData {
    /// What a person calls it.
    let name: String
    /// How many bytes it has, where that is known before it is read.
    let length: Int?
    /// Whether it takes up standard input.
    let isStandardInput: Bool
    private let descriptor: Int32
    private var inline: [UInt8]?

    private static let pieceBytes = 256 * 1024

    /// - Parameters:
    ///   - data: what `--data` said.
    ///   - file: the name of a file; `-` and nil stand for standard input.
    init(data: String?, file: String?) throws(ClientFailure) {
        if let data {
            do throws(JSONError) {
                _ = try JSONScan.validate(Array(data.utf8))
            } catch {
                let reason = error.explanation(in: Array(data.utf8).span)
                throw ClientFailure(
                    .invalidInput, "the value of --data is not JSON (\(reason)); text needs quotes of its own: --data '\"text\"'")
            }
            name = "--data"
            inline = Array(data.utf8)
            length = inline?.count
            isStandardInput = false
            descriptor = -1
        } else if let file, file != "-" {
            name = file
            descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0, let status = FileStatus(descriptor: descriptor) else {
                throw ClientFailure(.invalidInput, "\(file) cannot be read: \(String(cString: strerror(errno)).lowercased())")
            }
            guard status.kind != .folder else { throw ClientFailure(.invalidInput, "\(file) is a folder; name a file with JSON") }
            length = status.sizeBytes
            isStandardInput = false
        } else {
            name = "standard input"
            descriptor = STDIN_FILENO
            length = nil
            isStandardInput = true
            if isatty(STDIN_FILENO) == 1 { Terminal.writeError("Type JSON, and Ctrl-D on a line of its own to end it.") }
        }
    }

    deinit { if descriptor > STDERR_FILENO { close(descriptor) } }

    /// Whether it can be read from the beginning again.
    var canRewind: Bool { length != nil && descriptor >= 0 }

    /// Goes back to the beginning.
    func rewind() { lseek(descriptor, 0, SEEK_SET) }

    /// Appends what comes next, nothing at the end.
    func read(into buffer: inout ByteBuffer) throws(ClientFailure) {
        if let bytes = inline {
            buffer.append(bytes)
            inline = []
            return
        }
        var failure: Int32 = 0
        buffer.appendUninitialized(minimum: Self.pieceBytes) { room in
            while true {
                let count = Glibc.read(descriptor, room.baseAddress, Self.pieceBytes)
                if count >= 0 { return count }
                guard errno == EINTR else { break }
            }
            failure = errno
            return 0
        }
        guard failure == 0 else {
            throw ClientFailure(.invalidInput, "\(name) cannot be read: \(String(cString: strerror(failure)).lowercased())")
        }
    }

    /// All of it as the body of a request.
    func body(_ progress: Progress? = nil) -> HostRequest.Body {
        if let inline { return .bytes(inline) }
        var count = 0
        return .stream(length: length) { (buffer) throws(ClientFailure) in
            try self.read(into: &buffer)
            count += buffer.count
            progress?.update(count)
        }
    }
}
