import Glibc

/// Folders of the file system. Everything that asks it blocks.
public enum Folder {
    /// The folder that a path is in; `.` where it names none.
    public static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names in a folder, without `.` and `..`, in no order; none where it cannot be read. A name that is not UTF-8 is repaired, and so
    /// names no file: see ``rawNames(in:limit:)``.
    public static func names(in folder: String) -> [String] {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return rawNames(in: descriptor).map { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }

    /// The names in an open folder, without `.` and `..`, in no order, each with the zero byte that ends it: any bytes may be one.
    ///
    /// - Parameter limit: how many at most.
    public static func rawNames(in folder: Int32, limit: Int = .max) -> [[CChar]] {
        // The stream has a place in the folder of its own.
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

    /// Makes what was renamed or linked in a folder outlive the machine. A folder that cannot be synchronized is left to the kernel,
    /// which writes it within seconds.
    public static func sync(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
