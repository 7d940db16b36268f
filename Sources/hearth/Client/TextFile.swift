import Glibc

/// Small files of text.
enum TextFile {
    /// The whole file, or what stands at its beginning; nil, with `errno`, where it cannot be read.
    static func read(_ path: String, bytesMax: Int) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: min(bytesMax, 64 * 1024))
        while bytes.count < bytesMax {
            let count = Glibc.read(descriptor, &room, min(room.count, bytesMax - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += room[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
