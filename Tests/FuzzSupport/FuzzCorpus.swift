import Glibc

/// The texts in a folder below `Tests/Fuzz`, in the order of their names.
public enum FuzzCorpus {
    /// The reason why there are no files.
    public struct Failure: Error {
        public let message: String
    }

    /// - Parameter folder: such as `JSON/corpus`.
    public static func load(_ folder: String) throws(Failure) -> [[UInt8]] {
        let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let path = "/\(tests)/Fuzz/\(folder)"
        guard let directory = opendir(path) else { throw Failure(message: "\(path) cannot be opened") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if !name.hasPrefix(".") { names.append(name) }
        }
        var texts: [[UInt8]] = []
        for name in names.sorted() { texts.append(try read("\(path)/\(name)")) }
        return texts
    }

    private static func read(_ path: String) throws(Failure) -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Failure(message: "\(path) cannot be opened") }
        defer { fclose(file) }
        var text: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&room, 1, room.count, file)
            guard count > 0 else { return text }
            text += room[..<count]
        }
    }
}
