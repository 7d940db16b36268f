import Files
import Glibc

/// The file `.secret.local`: lines with the values of secrets. It can be edited; comments and other lines stay as they are.
public struct SecretFile {
    /// The path of the file.
    public let path: String
    private var lines: [[UInt8]]
    private var entries: [EnvironmentFile.Entry] = []

    /// The most bytes of a file.
    public static let sizeBytesMax = 1 << 20

    /// Reads the file; one that is missing is empty.
    ///
    /// - Throws: every invalid line, or the reason why the file cannot be read.
    public init(_ path: String) throws(ConfigurationErrors) {
        self.path = path
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try WholeFile.readIfAny(path, sizeBytesMax: Self.sizeBytesMax) ?? []
        } catch {
            throw ConfigurationErrors([Problem(file: path, message: "\(error)")])
        }
        lines = bytes.split(separator: Self.lineFeed, omittingEmptySubsequences: false).map(Array.init)
        try read()
    }

    private static let lineFeed = UInt8(ascii: "\n")

    private var bytes: [UInt8] { Array(lines.joined(separator: [Self.lineFeed])) }

    private mutating func read() throws(ConfigurationErrors) {
        let contents = EnvironmentFile(bytes, file: path, kind: .secrets)
        guard contents.problems.isEmpty else { throw ConfigurationErrors(contents.problems) }
        entries = contents.entries
    }

    /// The names of the secrets, in the order of the file.
    public var names: [String] { entries.map(\.key) }

    /// The value of a secret; nil if there is none.
    public subscript(name: String) -> String? { entries.first { $0.key == name }?.value }

    /// Gives a secret a value, in the place of its line if it has one.
    ///
    /// - Throws: the reason why the name or the value is not allowed, or that the file would be too large.
    public mutating func set(_ name: String, to value: String) throws(ConfigurationErrors) {
        guard EnvironmentRules.isSecretName(name) else {
            throw refusal("expected a secret's name of letters, digits, _ and -, found \(name.quoted)")
        }
        if let reason = EnvironmentRules.refusal(of: name) ?? EnvironmentRules.refusal(ofValue: value) { throw refusal(reason) }
        let line = Array("\(name)=\(Self.quoted(value))".utf8).split(separator: Self.lineFeed, omittingEmptySubsequences: false).map(Array.init)
        if let place = try takeOut(name) {
            lines.insert(contentsOf: line, at: place)
        } else {
            while lines.last?.isEmpty == true { lines.removeLast() }
            lines += line + [[]]
        }
        try read()
        guard bytes.count <= Self.sizeBytesMax else { throw refusal("the file would have more than \(Self.sizeBytesMax) bytes") }
    }

    /// Removes a secret.
    ///
    /// - Returns: whether it was there.
    public mutating func remove(_ name: String) throws(ConfigurationErrors) -> Bool { try takeOut(name) != nil }

    /// Reads the file, changes it, and replaces it durably. A new file can be read by its owner only. Another one keeps its owner and its group,
    /// which may read it if it could: in production that is how the host's user reads a file of root. Changes by several processes follow each
    /// other, so none is lost.
    ///
    /// - Throws: what `edit` throws, or the reason why the file cannot be read or written; it is then unchanged.
    public static func change<Answer>(
        _ path: String, _ edit: (inout SecretFile) throws(ConfigurationErrors) -> Answer
    ) throws(ConfigurationErrors) -> Answer {
        let folder = open(Folder.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        // Without locks on this file system, changes at the same time are the user's to avoid.
        if folder >= 0 { _ = flock(folder, LOCK_EX) }
        var file = try SecretFile(path)
        let answer = try edit(&file)
        var status = stat()
        let exists = stat(path, &status) == 0
        do throws(FileFailure) {
            try DurableFile.replace(
                path, with: file.bytes, mode: exists ? status.st_mode & 0o640 | 0o600 : 0o600,
                owner: exists ? (status.st_uid, status.st_gid) : nil)
        } catch {
            throw ConfigurationErrors([Problem(file: path, message: "\(error)")])
        }
        return answer
    }

    /// Removes the lines of a secret, also those of values that a later line replaces.
    ///
    /// - Returns: the index of the last one; nil if there was none.
    private mutating func takeOut(_ name: String) throws(ConfigurationErrors) -> Int? {
        var place: Int?
        while let entry = entries.first(where: { $0.key == name }) {
            lines.removeSubrange(entry.line - 1...entry.lastLine - 1)
            place = place.map { $0 - (entry.line - 1 < $0 ? entry.lastLine - entry.line + 1 : 0) } ?? entry.line - 1
            try read()
        }
        return place
    }

    private func refusal(_ message: String) -> ConfigurationErrors { ConfigurationErrors([Problem(file: path, message: message)]) }

    /// The value as the file holds it: between double quotes if it has other characters than a plain word.
    private static func quoted(_ value: String) -> String {
        let plain: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:+@="
        let isPlain = value.utf8.allSatisfy { byte in plain.withUTF8Buffer { $0.contains(byte) } }
        guard !isPlain else { return value }
        let escapes: [Character: String] = ["\\": "\\\\", "\"": "\\\"", "\r": "\\r", "\r\n": "\\r\\n", "\n": "\\n", "\u{0B}": "\\v"]
        return "\"\(value.map { escapes[$0] ?? String($0) }.joined())\""
    }
}
