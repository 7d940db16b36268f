import HearthBytes
import Glibc

/// A document with the name of its file.
struct SourceText: Sendable {
    let file: String
    private let lines: SourceLines

    init(file: String, bytes: [UInt8]) {
        self.file = file
        lines = SourceLines(bytes)
    }

    var bytes: [UInt8] { lines.bytes }

    /// The offset of the first byte that is not UTF-8, or nil.
    var firstInvalidOffset: Int? { lines.firstInvalidOffset }

    func position(at offset: Int) -> Position {
        let (line, column) = lines.position(at: offset)
        return Position(line: line, column: column)
    }

    func problem(at offset: Int, path: DocumentPath = DocumentPath(), _ message: String) -> Problem {
        Problem(file: file, position: position(at: offset), path: path.description, message: message)
    }
}

/// The path from the root of a document to a value in it.
struct DocumentPath: Sendable, Hashable, CustomStringConvertible {
    private(set) var description = ""

    func appending(key: String) -> DocumentPath {
        let isPlain = !key.isEmpty && key.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "$")
        }
        let step = isPlain ? key : key.quoted
        return DocumentPath(description: description.isEmpty ? step : "\(description).\(step)")
    }

    func appending(index: Int) -> DocumentPath {
        DocumentPath(description: "\(description)[\(index)]")
    }

    /// Whether `other` is this path or below it.
    func contains(_ other: String) -> Bool {
        let (outer, inner) = (description.utf8, other.utf8)
        guard !outer.isEmpty else { return true }
        guard inner.starts(with: outer) else { return false }
        let next = inner.dropFirst(outer.count).first
        return next == nil || next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
    }
}

/// File system queries for reading a configuration.
enum FileProbe {
    /// Nil if there is no such file.
    static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }

    /// Whether users without a right to this program's files can read the file: all users, or the group of a file of our own. The group of a
    /// file that belongs to another user, such as root, is how we are allowed to read it.
    static func isExposed(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & 0o004 != 0 || (status.st_mode & 0o040 != 0 && status.st_uid == geteuid())
    }

    static func isDirectory(_ path: String) -> Bool {
        mode(path).map { $0 & S_IFMT == S_IFDIR } ?? false
    }

    static func isReadable(_ path: String) -> Bool {
        access(path, R_OK) == 0
    }

    static func join(_ directory: String, _ path: String) -> String {
        if path.hasPrefix("/") || directory == "." && path != "." { return path }
        if path == "." { return directory }
        return directory.hasSuffix("/") ? directory + path : "\(directory)/\(path)"
    }
}
