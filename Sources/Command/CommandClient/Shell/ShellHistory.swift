import HearthBytes
import Glibc

/// The history of a prompt, in a file that only its owner can read.
public final class ShellHistory {
    /// Oldest first.
    public private(set) var entries: [String] = []
    private let file: String?

    /// The most entries; older ones are dropped.
    private static let entriesMax = 1000
    private static let bytesMax = 1 << 20

    /// - Parameter file: the file of the history; nil for none.
    public init(file: String?) {
        self.file = file
        guard let file else { return }
        Self.makeFolder(of: file)
        entries = Self.read(file).suffix(Self.entriesMax)
    }

    /// The default file: `shell-history` in the folder `hearth` of the user's state directory.
    public static var standardFile: String? {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/hearth/shell-history" }
        return variable("HOME").map { "\($0)/.local/state/hearth/shell-history" }
    }

    /// Adds a statement. Statements that begin with a blank, and repetitions of the last one, are not stored.
    public func add(_ entry: String) {
        guard !entry.isEmpty, entry.first != " ", entry != entries.last else { return }
        entries.append(entry)
        guard let file else { return }
        if entries.count > Self.entriesMax * 2 {
            entries.removeFirst(entries.count - Self.entriesMax)
            Self.write(entries, to: file, flags: O_TRUNC)
        } else {
            // Append, because several shells may share the file.
            Self.write([entry], to: file, flags: O_APPEND)
        }
    }

    /// The newest entry before `index` that contains a text.
    public func last(containing text: String, before index: Int) -> Int? {
        entries[..<min(index, entries.count)].lastIndex { $0.contains(text) }
    }

    // MARK: The file

    private static func write(_ entries: [String], to file: String, flags: Int32) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(entries.map { "\(line(of: $0))\n" }.joined().utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }

    private static func read(_ file: String) -> [String] {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        // An existing file may have another mode.
        fchmod(descriptor, 0o600)
        let size = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, max(0, size - bytesMax), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map { entry(of: $0) }
    }

    /// Encodes a statement of several lines as one line of the file.
    private static func line(of entry: String) -> String {
        entry.reduce(into: "") { $0 += $1 == "\\" ? "\\\\" : $1.isNewline ? "\\n" : String($1) }
    }

    private static func entry(of line: Substring) -> String {
        var entry = ""
        var isEscaped = false
        for character in line {
            if isEscaped {
                entry.append(character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                entry.append(character)
            }
        }
        return entry
    }

    private static func makeFolder(of file: String) {
        var path = ""
        for name in file.split(separator: "/").dropLast() {
            path += "/\(name)"
            mkdir(path, 0o700)
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
