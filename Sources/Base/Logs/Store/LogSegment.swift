import Files
import Glibc

/// One file of the store: lines of JSON, oldest first. Its name is the id of its first line.
package struct LogSegment: Sendable, Hashable {
    let path: String
    /// The id of the first line, the lowest of the file.
    let firstID: Int64

    private static let suffix = ".jsonl"

    init(directory: String, firstID: Int64) {
        let digits = "\(firstID)"
        path = "\(directory)/\(String(repeating: "0", count: max(0, 16 - digits.count)))\(digits)\(Self.suffix)"
        self.firstID = firstID
    }

    private init?(directory: String, name: String) {
        guard name.hasSuffix(Self.suffix), let id = Int64(name.dropLast(Self.suffix.count)), id >= 0 else { return nil }
        path = "\(directory)/\(name)"
        firstID = id
    }

    /// The segments in a folder, oldest first.
    static func all(in directory: String) -> [LogSegment] {
        Folder.names(in: directory).compactMap { LogSegment(directory: directory, name: $0) }.sorted { $0.firstID < $1.firstID }
    }

    /// The contents up to the last complete line; nil if the file is gone.
    func read(from offset: Int = 0) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let size = max(0, Int(lseek(descriptor, 0, SEEK_END)) - offset)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
            while count < size {
                let read = pread(descriptor, room.baseAddress.map { $0 + count }, size - count, off_t(offset + count))
                guard read > 0 else { break }
                count += read
            }
            // The rest, without a line end, is being written now, or was when the host was killed.
            while count > 0, room[count - 1] != UInt8(ascii: "\n") { count -= 1 }
        }
        return bytes
    }

    var sizeBytes: Int {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        return max(0, Int(lseek(descriptor, 0, SEEK_END)))
    }
}
