import Glibc

/// Functions on folders. All functions that access the file system block.
public enum Folder {
    /// The folder of a path; `.` if the path has none.
    public static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names in a folder without `.` and `..`, unordered; none if the folder cannot be read. Invalid UTF-8 in a name is replaced, so
    /// such a name does not name the file: see ``rawNames(in:limit:)``.
    public static func names(in folder: String) -> [String] {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return rawNames(in: descriptor).map { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }

    /// The names in an open folder without `.` and `..`, unordered, as zero-terminated bytes.
    ///
    /// - Parameter limit: the most names.
    public static func rawNames(in folder: Int32, limit: Int = .max) -> [[CChar]] {
        // A separate open file, because the position in the folder belongs to it.
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let directory = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(directory) }
        var names: [[CChar]] = []
        while names.count < limit, let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0] }
            if name != [46, 0], name != [46, 46, 0] { names.append(name) }
        }
        return names
    }

    /// Makes renames and links in a folder durable. If the folder cannot be synchronized, the kernel writes it within seconds.
    public static func sync(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
