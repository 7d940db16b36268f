import Files
import FunctionWorker
import Glibc

/// The files of a data directory that are backed up. New kinds of files are added to ``rooms``.
///
/// Left out: the admin token, because a restored host keeps its own; logs; and files that can be made again.
enum BackupContents {
    /// A group of files in the data directory.
    struct Room: Sendable {
        /// Their folder, in the data directory and in the archive; empty for the data directory itself.
        var folder: String
        /// The suffix of their names, or the whole name of a single file.
        var suffix: String
        var kind: Kind
    }

    enum Kind: Sendable {
        /// An SQLite database, of which a snapshot is copied.
        case database
        /// A JSON file that is replaced but never changed, and may be absent.
        case document
        /// Another file that is replaced but never changed.
        case file
        /// A file with its SHA-256 as its name.
        case artifact
    }

    /// All groups, in their order in an archive: databases first, because copying them needs room on the disk, and what fails before the answer has
    /// begun gets an answer of its own.
    static let rooms = [
        Room(folder: "database", suffix: ".sqlite", kind: .database),
        Room(folder: "messaging", suffix: ".sqlite", kind: .database),
        Room(folder: "users", suffix: ".sqlite", kind: .database),
        Room(folder: "schedules", suffix: ".sqlite", kind: .database),
        Room(folder: "tasks", suffix: ".sqlite", kind: .database),
        Room(folder: "", suffix: "deployed.json", kind: .document),
        Room(folder: "artifacts", suffix: ".so", kind: .artifact),
        Room(folder: "messaging", suffix: "web-push-key.pem", kind: .file),
        Room(folder: "users", suffix: ".keys", kind: .file),
    ]

    /// The format of archives. A newer one is refused.
    static let format = 1
    /// The first member, which describes the archive.
    static let head = "hearth-backup.json"
    /// The last member, with the size and SHA-256 of every other one.
    static let manifest = "manifest.json"

    /// The group of a member. Nil for names that no backup has, such as one that leads out of the folder.
    static func room(of member: String) -> Room? {
        let parts = member.split(separator: "/", omittingEmptySubsequences: false)
        guard let name = parts.last, !name.hasPrefix("."), !name.isEmpty, parts.count <= 2 else { return nil }
        let folder = parts.count == 2 ? String(parts[0]) : ""
        return rooms.first { room in
            // A suffix begins with a dot; anything else is a whole name.
            room.folder == folder && (name == room.suffix || room.suffix.hasPrefix(".") && name.hasSuffix(room.suffix))
        }
    }

    /// A file of the data directory.
    struct Member: Sendable {
        var name: String
        var path: String
        var room: Room
        var sizeBytes: Int
    }

    /// The existing files.
    static func members(of data: String) -> [Member] {
        rooms.flatMap { room in
            names(room, data).sorted().compactMap { name -> Member? in
                let member = room.folder.isEmpty ? name : "\(room.folder)/\(name)"
                var status = stat()
                guard stat("\(data)/\(member)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return Member(name: member, path: "\(data)/\(member)", room: room, sizeBytes: Int(status.st_size))
            }
        }
    }

    private static func names(_ room: Room, _ data: String) -> [String] {
        if room.folder.isEmpty { return [room.suffix] }
        return Folder.names(in: "\(data)/\(room.folder)").filter { self.room(of: "\(room.folder)/\($0)")?.suffix == room.suffix }
    }
}

/// The reason why a backup or restore failed: a sentence.
public struct BackupFailure: Error, Sendable, CustomStringConvertible {
    /// The sentence, for the user.
    public let description: String
    /// Whether the machine is the cause, such as a full disk, and not the archive.
    package let isOfSystem: Bool

    package init(_ description: String, isOfSystem: Bool = false) {
        self.description = description
        self.isOfSystem = isOfSystem
    }

    /// A failure with the text of `errno`.
    static func system(_ what: String) -> BackupFailure {
        BackupFailure("\(what): \(String(cString: strerror(errno)).lowercased())", isOfSystem: true)
    }
}
