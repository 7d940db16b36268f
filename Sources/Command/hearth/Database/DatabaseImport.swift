import ArgumentParser
import HearthBytes
import CommandClient
import HearthJSON

/// `hearth database:import`: writes a JSON file of any size.
struct DatabaseImport: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:import", abstract: "Imports JSON data of any size to an empty path.",
        discussion: """
            The file is checked before anything is written. It is then written in many small requests, so that other clients are \
            not delayed: an import is not atomic. Each request writes other values, so that a second attempt does no harm.

            Examples:
              hearth database:import / backup.json
              hearth database:import /users users.json --force
              gunzip -c big.json.gz | hearth database:import /archive -
            """)

    @Argument(help: "The path from the root: /users")
    var path: String

    @Argument(help: ArgumentHelp("A file with JSON; - for standard input (the default).", valueName: "file"))
    var file: String?

    @Option(help: ArgumentHelp("The size of one request in megabytes.", valueName: "megabytes"))
    var chunkSize = 0.25

    @Option(help: ArgumentHelp("The number of concurrent requests.", valueName: "count"))
    var concurrency = 4

    @Flag(inversion: .prefixedNo, help: "Do not trigger functions.")
    var disableTriggers = true

    @Option(help: ArgumentHelp("Resume an import of the same file at the byte that it reported.", valueName: "byte"))
    var resumeAt = 0

    @Flag(name: .shortAndLong, help: "Remove existing data first, without asking.")
    var force = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if !(0.001...64).contains(chunkSize) { throw ValidationError("--chunk-size must be from 0.001 to 64 megabytes") }
        if !(1...64).contains(concurrency) { throw ValidationError("--concurrency must be from 1 to 64") }
        if resumeAt < 0 { throw ValidationError("--resume-at must be a byte of the file, at least 0") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let target = try database.target(path)
        let input = try InputData(data: nil, file: file)
        var options = ImportOptions()
        options.batchBytes = Int(chunkSize * 1_000_000)
        options.requestsMax = concurrency
        options.raisesTriggers = !disableTriggers
        options.resumesAt = resumeAt
        let limits = JSONSplitLimits(valueBytesMax: max(1024, options.batchBytes / 4), depthMax: max(0, 32 - target.keys.count))
        if resumeAt == 0 { try requireEmpty(target, client) }
        if input.canRewind { try check(input, limits) }
        if resumeAt == 0, force {
            var removal = TreeRemoval(client, raisesTriggers: !disableTriggers)
            try removal.remove(target)
        }
        return try write(input, to: target, client, options, limits)
    }

    private func requireEmpty(_ target: DatabaseTarget, _ client: HostClient) throws(ClientFailure) {
        let answer = try client.ask(HostRequest("GET", target.target([("shallow", "true"), ("limitToFirst", "1")])))
        guard !answer.body.prefix(4).elementsEqual("null".utf8), !force else { return }
        throw ClientFailure(
            .invalidInput, "there is data at \(target) already; import to an empty path, or use --force to remove that data first")
    }

    /// Reads the whole file first, so that an invalid one is refused before anything is written.
    private func check(_ input: InputData, _ limits: JSONSplitLimits) throws(ClientFailure) {
        let progress = Progress("Checking", total: input.length)
        var splitter = JSONSplitter(limits: limits, collects: false)
        var buffer = ByteBuffer()
        do throws(JSONSplitError) {
            while true {
                buffer.clear()
                guard let count = Self.read(input, &buffer) else { break }
                if count == 0 { splitter.finish() } else { splitter.append(buffer.bytes) }
                while try splitter.next() != nil {}
                progress.update(splitter.bytesRead)
                if count == 0 { break }
            }
        } catch {
            throw ClientFailure(.invalidInput, "\(input.name):\(error); nothing was written")
        }
        progress.end()
        input.rewind()
    }

    /// The number of bytes read; nil on failure, which the import itself will meet again and report.
    private static func read(_ input: InputData, _ buffer: inout ByteBuffer) -> Int? {
        do throws(ClientFailure) {
            try input.read(into: &buffer)
            return buffer.count
        } catch {
            return nil
        }
    }

    private func write(
        _ input: InputData, to target: DatabaseTarget, _ client: HostClient, _ options: ImportOptions, _ limits: JSONSplitLimits
    ) throws(ClientFailure) -> Outcome {
        let progress = Progress("Importing", total: input.length)
        var run = ImportRun(client, into: target, options: options) { progress.update($0.bytes) }
        do throws(ImportFailure) {
            let done = try run.run(limits: limits) { (buffer) throws(ClientFailure) in try input.read(into: &buffer) }
            progress.end()
            let rate = Int(Double(done.bytes) / max(progress.seconds, 0.001))
            return Outcome(
                text: "\(ByteCount.text(done.bytes)) imported to \(target) (\(ByteCount.text(rate))/s)",
                json: .object([
                    "path": .string("\(target)"), "bytes": .int(Int64(done.bytes)), "values": .int(Int64(done.values)),
                    "requests": .int(Int64(done.requests)),
                ]))
        } catch {
            progress.end()
            throw explained(error, input, target)
        }
    }

    private func explained(_ failure: ImportFailure, _ input: InputData, _ target: DatabaseTarget) -> ClientFailure {
        var text = failure.reason.message
        // The position of an error in input that cannot be checked in advance.
        if failure.reason.kind == .invalidInput, text.first?.isNumber == true { text = "\(input.name):\(text)" }
        if let source = failure.source, case .refused(400) = failure.reason.kind {
            text += " (bytes \(source.lowerBound) to \(source.upperBound) of \(input.name))"
        }
        if failure.writtenBytes > 0 {
            text += "; everything before byte \(failure.writtenBytes) is written; resume with --resume-at \(failure.writtenBytes)"
        }
        return ClientFailure(failure.reason.kind, text)
    }
}
