import Files
import Glibc
import HearthJSON
import Logs

/// Replaces data by restored data. Each step is a rename, and a journal in the data directory lists the steps, so that an interrupted switch is
/// completed at the next start.
package enum RestoreSwitch {
    /// The name of the journal.
    private static let note = "restore.json"
    /// The files and folders to replace: everything that a backup can have, even if this one does not have it.
    private static var places: [String] {
        var places: [String] = []
        for room in BackupContents.rooms {
            let place = room.folder.isEmpty ? room.suffix : room.folder
            // Libraries are not replaced but added, because their names are their hashes.
            if room.kind != .artifact, !places.contains(place) { places.append(place) }
        }
        return places
    }

    /// - Returns: the folder with the previous data.
    package static func perform(stage: String, data: String) throws(BackupFailure) -> String {
        let time = WallClock.now().rfc3339.prefix(19).filter { $0.isNumber }
        var kept = "before-restore-\(time)"
        var number = 1
        while FileTree.exists("\(data)/\(kept)") {
            number += 1
            kept = "before-restore-\(time)-\(number)"
        }
        try addArtifacts(stage: stage, data: data)
        let name = String(stage.split(separator: "/").last ?? "")
        let replaced = places.filter { FileTree.exists("\(data)/\($0)") }
        let text = JSONValue.object(
            ["stage": .string(name), "kept": .string(kept), "replaced": .array(replaced.map { .string($0) })]).serialized()
        do throws(FileFailure) {
            try DurableFile.replace("\(data)/\(note)", with: text, mode: 0o600)
        } catch {
            throw BackupFailure("\(data)/\(note) \(error)")
        }
        try complete(data)
        return "\(data)/\(kept)"
    }

    /// Completes an interrupted switch, if there is one.
    static func complete(_ data: String) throws(BackupFailure) {
        let text: [UInt8]?
        do throws(FileFailure) {
            text = try WholeFile.readIfAny("\(data)/\(note)", sizeBytesMax: 4096)
        } catch {
            throw BackupFailure("\(data)/\(note) \(error)")
        }
        guard let text else { return }
        guard let said = try? JSONValue(parsing: text), let stage = said["stage"]?.string, let kept = said["kept"]?.string else {
            throw BackupFailure("\(data)/\(note) is not the record of a restore")
        }
        let replaced = (said["replaced"]?.array ?? []).compactMap(\.string)
        mkdir("\(data)/\(kept)", 0o700)
        for place in places {
            let (own, aside, new) = ("\(data)/\(place)", "\(data)/\(kept)/\(place)", "\(data)/\(stage)/\(place)")
            // Previous data is moved only once: if it is in the other folder, its place already has restored data.
            if replaced.contains(place), !FileTree.exists(aside), rename(own, aside) != 0 { throw .system("\(own) cannot be kept aside") }
            if FileTree.exists(new), rename(new, own) != 0 { throw .system("\(own) cannot be put into place") }
        }
        // A running host expects its folders.
        for room in BackupContents.rooms where !room.folder.isEmpty { mkdir("\(data)/\(room.folder)", 0o700) }
        Folder.sync("\(data)/\(kept)")
        Folder.sync(data)
        unlink("\(data)/\(note)")
        Folder.sync(data)
        FileTree.remove("\(data)/\(stage)")
    }

    /// Puts the previous data back, and deletes the restored data.
    package static func undo(kept: String, data: String) {
        let dropped = "\(kept)-failed"
        mkdir(dropped, 0o700)
        for place in places {
            rename("\(data)/\(place)", "\(dropped)/\(place)")
            rename("\(kept)/\(place)", "\(data)/\(place)")
        }
        Folder.sync(data)
        FileTree.remove(dropped)
        rmdir(kept)
    }

    /// Adds the libraries to the existing ones. Their names are their hashes, so none replaces another one.
    package static func addArtifacts(stage: String, data: String) throws(BackupFailure) {
        for room in BackupContents.rooms where room.kind == .artifact {
            mkdir("\(data)/\(room.folder)", 0o700)
            for name in Folder.names(in: "\(stage)/\(room.folder)") {
                let target = "\(data)/\(room.folder)/\(name)"
                guard FileTree.exists(target) || rename("\(stage)/\(room.folder)/\(name)", target) == 0 else {
                    throw .system("\(target) cannot be put into place")
                }
            }
            Folder.sync("\(data)/\(room.folder)")
        }
    }
}
