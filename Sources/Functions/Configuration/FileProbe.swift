import Glibc

/// The few things that reading a configuration asks of the file system.
enum FileProbe {
    /// Nil when nothing is there.
    static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }

    static func isRegularFile(_ path: String) -> Bool {
        mode(path).map { $0 & S_IFMT == S_IFREG } ?? false
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
