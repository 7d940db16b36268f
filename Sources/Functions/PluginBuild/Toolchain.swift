import Glibc

/// An installed Swift toolchain.
public struct Toolchain: Sendable, Equatable {
    /// The path of `swift`; the other programs are beside it.
    public let swift: String

    /// The requirement, for messages.
    public static let advice = "install Swift 6.3 or newer from https://www.swift.org/install/linux, or put it on PATH"

    /// A toolchain at this path; its existence is not checked.
    public init(swift: String) { self.swift = swift }

    /// The path of its symbolizer; nil if it has none.
    public var symbolizer: String? {
        let path = swift.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/llvm-symbolizer"
        return access(path, X_OK) == 0 ? path : nil
    }

    /// The oldest usable version.
    public static let versionMin = [6, 3]

    /// Runs `swift --version`. Blocks.
    ///
    /// - Returns: the numbers of its version, such as 6, 3, 1; nil if the program does not tell one.
    public func version() -> [Int]? {
        var output: [UInt8] = []
        guard let process = try? KeptProcess(
            [swift, "--version"], environment: Environment.inherited(), directory: "/", cancellation: BuildCancellation())
        else { return nil }
        let status = process.run { if output.count < 1 << 16 { output += $0 } }
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0, let start = text.firstRange(of: "Swift version ")?.upperBound else { return nil }
        let numbers = text[start...].prefix { $0.isASCII && ($0.isNumber || $0 == ".") }.split(separator: ".").compactMap { Int($0) }
        return numbers.isEmpty ? nil : numbers
    }

    /// The first `swift` on `PATH`, otherwise in the folders of installers.
    public static func find(path: String? = nil) -> Toolchain? {
        let list = path ?? getenv("PATH").map { String(cString: $0) } ?? ""
        let home = getenv("HOME").map { String(cString: $0) } ?? "/root"
        let folders = list.split(separator: ":").map(String.init) + ["/opt/swift/usr/bin", "\(home)/.local/share/swiftly/bin"]
        for folder in folders where folder.hasPrefix("/") {
            let candidate = "\(folder)/swift"
            if access(candidate, X_OK) == 0 { return Toolchain(swift: candidate) }
        }
        return nil
    }
}

/// The environment of compilers.
enum Environment {
    /// All variables of this process, `NAME=value`.
    static func inherited() -> [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            variables.append(String(cString: variable))
            next += 1
        }
        return variables
    }
}

/// Reads the manifest of a library in a separate process, so that a library that crashes while loading harms nothing else.
public enum LibraryProbe {
    /// Precedes the manifest in the output of the process, because the library may print too.
    public static let marker = "\u{1}hearth-manifest\u{1}"

    private static let outputBytesMax = 32 << 20

    /// The manifest of a library, verbatim.
    ///
    /// Blocks until the library is loaded.
    ///
    /// - Parameters:
    ///   - library: the path of the library.
    ///   - program: a program for which `program manifest LIBRARY` writes ``marker`` and the manifest.
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
            let reason = status > 128 ? "it crashes with signal \(status - 128) while it is loaded" : "it cannot be loaded"
            throw BuildFailure(.package, "\(library): \(reason)", diagnostics: String(decoding: output, as: UTF8.self))
        }
        return Array(output[start...])
    }
}
