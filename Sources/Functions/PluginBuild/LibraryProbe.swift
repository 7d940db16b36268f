import Glibc

/// Asks a library what it offers, in a process of its own: a library that crashes while it is loaded ends nothing else.
public enum LibraryProbe {
    /// Stands before the manifest in the output of that process, which may also have what the library prints.
    public static let marker = "\u{1}hearth-manifest\u{1}"

    private static let outputBytesMax = 32 << 20

    /// The manifest of a library, as it wrote it.
    ///
    /// Blocks until the library is loaded.
    ///
    /// - Parameters:
    ///   - library: the path of the library.
    ///   - program: the program of which `program manifest LIBRARY` writes ``marker`` and the manifest.
    /// - Throws: `BuildFailure` for a library that cannot be loaded.
    public static func manifest(of library: String, program: String) throws(BuildFailure) -> [UInt8] {
        guard let resolved = realpath(library, nil) else {
            throw BuildFailure(.package, "\(library) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        let process = try KeptProcess(
            [program, "manifest", String(cString: resolved)], environment: Environment.inherited(), directory: ".",
            cancellation: BuildCancellation())
        var output: [UInt8] = []
        let status = process.run { if output.count < outputBytesMax { output += $0 } }
        guard status == 0, let start = output.firstRange(of: Array(marker.utf8))?.upperBound else {
            let reason = status > 128 ? "it ends by signal \(status - 128) while it is loaded" : "it cannot be loaded"
            throw BuildFailure(.package, "\(library): \(reason)", diagnostics: String(decoding: output, as: UTF8.self))
        }
        return Array(output[start...])
    }
}
