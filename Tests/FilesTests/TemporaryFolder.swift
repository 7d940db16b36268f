import Glibc

/// Runs `body` with the path of a folder that is its own.
func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/hearth-files-XXXXXX".utf8CString)
    _ = mkdtemp(&template)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
        for entry in names(path) { unlink("\(path)/\(entry)") }
        rmdir(path)
    }
    try body(path)
}

/// The names in a folder, without the code under test.
func names(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

func write(_ text: String, to path: String, mode: mode_t = 0o600) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
    _ = Glibc.write(descriptor, text, text.utf8.count)
    close(descriptor)
}

func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
}
