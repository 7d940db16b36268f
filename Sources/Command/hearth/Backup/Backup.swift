import AdminProtocol
import ArgumentParser
import HearthBytes
import CommandClient
import Glibc
import HearthJSON

/// `hearth backup`: all data of a running host in one file.
struct Backup: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Saves all data of a running host in one file: databases, events, deployed functions.",
        discussion: """
            The file is a tar archive, compressed when its name ends with .gz. Each database in it is a consistent snapshot; the host keeps serving.
            The file gets its name when it is complete. It does not contain the host's admin token.

            Examples:
              hearth backup
              hearth backup /backups/hearth.tar.gz
              hearth backup - | ssh elsewhere 'cat > hearth.tar'
            """)

    @Argument(help: ArgumentHelp("The file to write; - for standard output. (default: hearth-PROJECT-TIME.tar.gz)", valueName: "file"))
    var file: String?

    @Flag(help: "Compress also when the name does not end with .gz.")
    var gzip = false

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let name: String
        if let file { name = file } else { name = try defaultName(client) }
        let output = try OutputFile(name == "-" ? nil : name, isPrivate: true)
        let compressor = gzip || name.hasSuffix(".gz") ? Gzip(compresses: true) : nil
        var progress: Progress?
        var count = 0
        var refusal: [UInt8] = []
        let head = try client.stream(HostRequest("POST", "\(AdminPath.root)/backup")) { (head, bytes) throws(ClientFailure) in
            guard head.status == 200 else {
                refusal += bytes.array()
                return
            }
            if progress == nil { progress = Progress("Backing up", total: head.header("x-hearth-estimated-bytes").flatMap { Int($0) }) }
            count += bytes.count
            progress?.update(count)
            try Self.write(bytes.array(), isLast: false, compressor, output)
        }
        guard head.status == 200 else { throw client.refusal(HostAnswer(head: head, body: refusal)) }
        try Self.write([], isLast: true, compressor, output)
        progress?.end()
        try output.finish(endsWithNewline: false)
        guard name != "-" else { return Outcome() }
        return Outcome(
            text: "\(ByteCount.text(count)) backed up to \(name)" + (compressor == nil ? "" : " (\(ByteCount.text(output.count)) compressed)"),
            json: .object(["file": .string(name), "bytes": .int(Int64(count)), "fileBytes": .int(Int64(output.count))]))
    }

    private static func write(_ bytes: [UInt8], isLast: Bool, _ compressor: Gzip?, _ output: OutputFile) throws(ClientFailure) {
        guard let compressor else { return try output.write(bytes.span) }
        try compressor.work(bytes, isLast: isLast) { (made) throws(ClientFailure) in try output.write(made.span) }
    }

    private func defaultName(_ client: HostClient) throws(ClientFailure) -> String {
        let project = try client.hostDescription().project
        var seconds = time(nil)
        var moment = tm()
        gmtime_r(&seconds, &moment)
        let fields = [moment.tm_year + 1900, moment.tm_mon + 1, moment.tm_mday, moment.tm_hour, moment.tm_min, moment.tm_sec]
        let digits = fields.map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "hearth-\(project)-\(digits[0])\(digits[1])\(digits[2])-\(digits[3])\(digits[4])\(digits[5]).tar.gz"
    }
}
