import CommandClient
import Glibc

/// A backup to read: a tar archive, compressed or not.
final class BackupFile {
    private let descriptor: Int32
    private let name: String
    private var decompressor: Gzip?
    private var isStarted = false
    private var isOver = false
    /// Bytes read from the file.
    private(set) var count = 0
    /// The size of the file, if known.
    let sizeBytes: Int?

    private static let pieceBytes = 128 * 1024

    /// - Parameter name: the file; `-` for standard input.
    init(_ name: String) throws(ClientFailure) {
        self.name = name == "-" ? "standard input" : name
        descriptor = name == "-" ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let status = FileStatus(descriptor: descriptor) else {
            throw ClientFailure(.invalidInput, "\(name) cannot be read: \(String(cString: strerror(errno)).lowercased())")
        }
        guard status.kind != .folder else { throw ClientFailure(.invalidInput, "\(name) is a folder; name a file of hearth backup") }
        sizeBytes = status.sizeBytes
    }

    deinit { if descriptor > STDERR_FILENO { close(descriptor) } }

    /// The next bytes of the archive; empty at its end.
    func next() throws(ClientFailure) -> [UInt8] {
        while !isOver {
            let piece = try read()
            isOver = piece.isEmpty
            if !isStarted {
                isStarted = true
                if piece.starts(with: Gzip.mark) { decompressor = Gzip(compresses: false) }
            }
            guard let decompressor else { return piece }
            var made: [UInt8] = []
            try decompressor.work(piece, isLast: isOver) { (bytes) in made += bytes }
            if !made.isEmpty { return made }
        }
        return []
    }

    /// Fills a piece as far as possible: a pipe returns few bytes at a time.
    private func read() throws(ClientFailure) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { room, filled in
            filled = 0
            while filled < Self.pieceBytes {
                let count = Glibc.read(descriptor, room.baseAddress.map { $0 + filled }, Self.pieceBytes - filled)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                guard count > 0 else { return }
                filled += count
            }
        }
        guard failure == 0 else { throw ClientFailure(.invalidInput, "\(name) cannot be read: \(String(cString: strerror(failure)).lowercased())") }
        count += bytes.count
        return bytes
    }
}
