import Glibc

/// Reads a key document from a file.
enum KeyFile {
    /// A larger file holds no keys.
    static let bytesMax = 1 << 20

    static func read(_ path: String) throws(KeyFetchError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { return bytes }
            bytes.append(contentsOf: room[..<count])
            guard bytes.count <= bytesMax else { throw KeyFetchError("The file is longer than \(bytesMax) bytes.") }
        }
    }

    private static func failure() -> KeyFetchError {
        KeyFetchError("The file cannot be read: \(String(cString: strerror(errno))).")
    }
}
