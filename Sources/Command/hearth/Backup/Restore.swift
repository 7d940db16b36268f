import AdminProtocol
import HostCore
import ArgumentParser
import CommandClient
import Host
import HearthJSON

/// `hearth restore`: restores a backup.
struct Restore: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replaces all data by the contents of a backup.",
        discussion: """
            The file is checked first; a damaged file or one of a newer version changes nothing. The previous data is kept beside it. The host
            keeps its admin token.

            Examples:
              hearth restore hearth.tar.gz
              hearth restore hearth.tar.gz --into /var/lib/hearth   (a stopped host)
            """)

    @Argument(help: ArgumentHelp("A file of hearth backup; - for standard input.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("Restore into the data directory of a stopped host.", valueName: "dir"))
    var into: String?

    /// The name of `--into` in earlier versions.
    @Option(help: .hidden)
    var data: String?

    @OptionGroup var question: ForceOption
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let input = try BackupFile(file)
        let folder = into ?? data
        let place = folder.map { "in \($0)" } ?? "of the host at \(client.url)"
        try question.confirm("replace all data \(place)", canAsk: file != "-")
        let progress = Progress("Restoring", total: input.sizeBytes)
        defer { progress.end() }
        if let folder { return try restore(input, into: folder, progress) }
        return try restore(input, through: client, progress)
    }

    private func restore(_ input: BackupFile, into folder: String, _ progress: Progress) throws(ClientFailure) -> Outcome {
        do {
            let done = try OfflineRestore.run(data: folder) {
                progress.update(input.count)
                return try input.next()
            }
            return outcome(members: done.members, kept: done.kept)
        } catch let failure as ClientFailure {
            throw failure
        } catch {
            throw ClientFailure(.invalidInput, "\(error); nothing was changed")
        }
    }

    private func restore(_ input: BackupFile, through client: HostClient, _ progress: Progress) throws(ClientFailure) -> Outcome {
        let id = try client.administer(RestoreStart.self, "POST", "restores").restore
        var offset = 0
        do throws(ClientFailure) {
            var piece: [UInt8] = []
            while true {
                let bytes = try input.next()
                piece += bytes
                guard piece.count >= Self.pieceBytes || bytes.isEmpty else { continue }
                if !piece.isEmpty {
                    _ = try client.ask(HostRequest("PUT", "\(AdminPath.root)/restores/\(id)?offset=\(offset)", body: .bytes(piece)))
                    offset += piece.count
                    piece = []
                    progress.update(input.count)
                }
                if bytes.isEmpty { break }
            }
            let done = try client.administer(RestoreReport.self, "POST", "restores/\(id):apply")
            return outcome(members: done.members, kept: done.kept)
        } catch {
            // Discard the upload; a host that has ended has discarded it itself.
            _ = try? client.another().send(HostRequest("DELETE", "\(AdminPath.root)/restores/\(id)"))
            throw ClientFailure(error.kind, error.message + "; nothing was changed")
        }
    }

    private static let pieceBytes = 4 << 20

    private func outcome(members: Int, kept: String) -> Outcome {
        Outcome(
            text: "Restored \(members) files. The previous data is in \(kept); delete it when it is no longer needed.",
            json: .object(["members": .int(Int64(members)), "kept": .string(kept)]))
    }
}
