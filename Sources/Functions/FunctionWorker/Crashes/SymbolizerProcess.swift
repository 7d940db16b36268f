import CLinux
import Glibc

/// `hearth symbolizer TOOL LIBRARY OFFSET...`: finds the source lines for the offsets of a crash.
///
/// It parses files of a plugin's author, so it runs in a separate process in a sandbox: it can read the library, the tool and the system's
/// libraries, and write only its output. The tool is the compiler's `llvm-symbolizer`, which knows files, lines and inlined calls; without
/// it, the names of the library's symbol table are used.
///
/// It prints one line for each call, innermost first: the index of the offset, the function's symbol, its readable name, the file, and the
/// line, separated by tabs.
public enum SymbolizerProcess {
    /// The subcommand of `hearth` for this process.
    public static let command = "symbolizer"
    /// The most bytes read of the output of this process and of the tool.
    public static let answerBytesMax = 256 * 1024

    /// Prints the answer and ends.
    public static func main(tool: String, library: String, offsets: some Sequence<String>) -> Never {
        let offsets = offsets.compactMap { UInt64($0) }
        let isClosed = confine(tool: tool, library: library)
        var lines = isClosed && !tool.isEmpty ? ask(tool, library: library, offsets) : []
        if lines.isEmpty { lines = names(library: library, offsets) }
        let text = lines.joined(separator: "\n") + "\n"
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            bytes = bytes.dropFirst(count)
        }
        _exit(0)
    }

    /// Enters the sandbox; returns whether that succeeded.
    private static func confine(tool: String, library: String) -> Bool {
        _ = linux_die_with_parent()
        guard linux_set_no_new_privileges() == 0, linux_close_from(3) == 0 else { return false }
        for (resource, value) in [(RLIMIT_CPU, 10), (RLIMIT_AS, 4 << 30), (RLIMIT_CORE, 0)] as [(__rlimit_resource, UInt)] {
            var limits = rlimit(rlim_cur: value, rlim_max: value)
            setrlimit(__rlimit_resource_t(resource.rawValue), &limits)
        }
        // The tool's own libraries are in the same installation.
        let toolchain = tool.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
        return WorkerSandbox.enterReadOnly(readable: ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", library] + (toolchain.isEmpty ? [] : [toolchain]))
    }

    // MARK: With the tool

    private static func ask(_ tool: String, library: String, _ offsets: [UInt64]) -> [String] {
        let options = ["llvm-symbolizer", "--obj=\(library)", "--inlines", "--no-demangle", "--functions=linkage"]
        let answer = output(of: tool, options + offsets.map { "0x" + String($0, radix: 16) })
        var lines: [String] = []
        var index = 0
        // The output has a block for each offset: alternating lines of name and place, then an empty line.
        var name: Substring?
        for line in answer.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                index += 1
                name = nil
            } else if let known = name {
                let words = line.split(separator: ":", omittingEmptySubsequences: false)
                let file = words.dropLast(2).joined(separator: ":")
                lines.append(answerLine(index, name: String(known), file: file, line: words.dropLast().last.map(String.init) ?? "0"))
                name = nil
            } else {
                name = line
            }
        }
        return lines
    }

    private static func output(of program: String, _ arguments: [String]) -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return "" }
        let words = arguments.map { strdup($0) } + [nil]
        let variables = [strdup("PATH=/usr/bin:/bin"), nil]
        defer { for pointer in words + variables { free(pointer) } }
        var watch: Int32 = -1
        let pid = linux_spawn(
            program, words.map { UnsafePointer($0) }, variables.map { UnsafePointer($0) }, nil, [-1, ends[1], -1], 3, false, &watch)
        close(ends[1])
        guard pid > 0 else { return "" }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count < answerBytesMax {
            let count = read(ends[0], &room, room.count)
            guard count > 0 else { break }
            bytes += room[..<count]
        }
        close(ends[0])
        waitpid(pid, nil, 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Without it

    private static func names(library: String, _ offsets: [UInt64]) -> [String] {
        let table = SymbolTable(path: library)
        return offsets.enumerated().compactMap { index, offset in
            table.name(at: offset).map { answerLine(index, name: $0, file: "", line: "0") }
        }
    }

    private static func answerLine(_ index: Int, name: String, file: String, line: String) -> String {
        let readable = linux_demangle_swift(name).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        let words = [name, readable ?? name, file == "??" ? "" : file, line].map { $0.replacing("\t", with: " ").replacing("\n", with: " ") }
        return "\(index)\t" + words.joined(separator: "\t")
    }
}
