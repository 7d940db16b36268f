import Files
import FunctionWorker
import Glibc

/// What of a data directory is backed up. A room that keeps files of its own adds them to ``rooms``.
///
/// Not in it: the admin token, since a restored host keeps its own; logs; and what can be made again.
enum BackupContents {
    /// Some files of the data directory.
    struct Room: Sendable {
        /// Their folder, empty for the data directory itself; also where they are in the archive.
        var folder: String
        /// How their names end; the whole name of a single file.
        var suffix: String
        var kind: Kind
    }

    enum Kind: Sendable {
        /// A database of SQLite, copied as it is at one moment.
        case database
        /// JSON that is replaced and never changed, and is there or not.
        case document
        /// Another file of that kind.
        case file
        /// A file that is named by its SHA-256.
        case artifact
    }

    /// In the order in which they are in an archive.
    static let rooms = [
        Room(folder: "", suffix: "deployed.json", kind: .document),
        Room(folder: "artifacts", suffix: ".so", kind: .artifact),
        Room(folder: "database", suffix: ".sqlite", kind: .database),
        Room(folder: "messaging", suffix: ".sqlite", kind: .database),
        Room(folder: "messaging", suffix: "web-push-key.pem", kind: .file),
    ]

    /// The format of archives; a newer one is refused.
    static let format = 1
    /// The first member: what the archive is.
    static let head = "hearth-backup.json"
    /// The last member: every other one with its size and SHA-256.
    static let manifest = "manifest.json"

    /// What a member is; nil for a name that no backup has, such as one that leads out of the folder.
    static func room(of member: String) -> Room? {
        let parts = member.split(separator: "/", omittingEmptySubsequences: false)
        guard let name = parts.last, !name.hasPrefix("."), !name.isEmpty, parts.count <= 2 else { return nil }
        let folder = parts.count == 2 ? String(parts[0]) : ""
        return rooms.first { room in
            // What begins with a point is an ending, everything else a name.
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

    /// What there is now.
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

/// Why a backup or a restore is not done: a sentence.
public struct BackupFailure: Error, Sendable, CustomStringConvertible {
    /// For whoever asked for it; says what stands in the way.
    public let description: String

    package init(_ description: String) { self.description = description }

    /// What the system has just said.
    static func system(_ what: String) -> BackupFailure { BackupFailure("\(what): \(String(cString: strerror(errno)).lowercased())") }
}
