import Glibc

/// Folders and files for tests.
enum FilePaths {
    struct Failure: Error {
        var message: String
    }

    /// The folder with Package.swift, links in the way to this file followed.
    static let root: String = {
        let here = realpath(#filePath, nil)
        defer { free(here) }
        let path = here.map { String(cString: $0) } ?? #filePath
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    }()

    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure(message: "\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard fchmod(descriptor, mode) == 0 else { throw Failure(message: "\(path): \(String(cString: strerror(errno)))") }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(message: "\(path): \(String(cString: strerror(errno)))") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Runs `body` with a new folder that holds the given files, and removes it afterwards.
    static func withFolder<Result>(_ files: [String: String], _ body: (String) throws -> Result) throws -> Result {
        var template = Array("/tmp/hearth-configuration-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(message: String(cString: strerror(errno))) }
        let folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        defer {
            for name in files.keys { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        for (name, text) in files { try write(text, to: "\(folder)/\(name)", mode: name.hasPrefix(".secret") ? 0o600 : 0o644) }
        return try body(folder)
    }
}
