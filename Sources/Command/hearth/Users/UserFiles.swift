import ArgumentParser
import CommandClient
import HearthBytes
import HearthJSON

extension PasswordHashing.Algorithm: ExpressibleByArgument {
    public init?(argument: String) { self.init(rawValue: argument.uppercased()) }
}

extension PasswordHashing.ArgonKind: ExpressibleByArgument {
    public init?(argument: String) { self.init(rawValue: argument.uppercased()) }
}

extension UserFileFormat: ExpressibleByArgument {
    fileprivate static let advice = "the name of the file does not end with .json or .csv; use --format json or --format csv"
}

/// `hearth auth:export`: writes users to a file.
struct AuthExport: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:export", abstract: "Exports all users to a file in JSON or CSV, in the formats of the Firebase tools.",
        discussion: """
            The file has the password hashes; only you can read it. At the end, the command says with which options the hashes are imported.

            Examples:
              hearth auth:export users.json
              hearth auth:export - --format csv
              hearth auth:export users.json --all-fields
            """)

    @Argument(help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("json or csv. (default: as the file's name says)", valueName: "format"))
    var format: UserFileFormat?

    @Flag(help: "All providers, second factors by text message, and hashes of every algorithm, in JSON; the Firebase tools refuse such a file.")
    var allFields = false

    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    private var actualFormat: UserFileFormat? { format ?? UserFileFormat(fileName: file) }

    func validate() throws {
        guard let actualFormat else { throw ValidationError(UserFileFormat.advice) }
        if allFields, actualFormat == .csv { throw ValidationError("--all-fields needs JSON: CSV has no columns for them") }
        if file == "-", connection.json { throw ValidationError("--json needs a file: standard output has the users") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let output = try OutputFile(file == "-" ? nil : file, isPrivate: true)
        let progress = Progress("Exporting", total: nil)
        var export = UserExport(tenant.users(client), format: actualFormat ?? .json, isComplete: allFields)
        try export.run { (text) throws(ClientFailure) in
            try output.write(text)
            progress.update(output.count)
        }
        progress.end()
        try output.finish(endsWithNewline: export.count > 0)
        for line in Self.notes(export.losses, allFields) { Terminal.writeError("hearth: \(line)") }
        var text = "\(export.count) \(export.count == 1 ? "user" : "users") exported to \(file)"
        if export.passwordCount > 0, !allFields, let hashing = export.hashing { text += "\nImport the passwords with \(hashing.options)" }
        let json: JSONObject = [
            "file": .string(file), "users": JSONValue(export.count), "passwords": JSONValue(export.passwordCount),
            "incomplete": [
                "passwords": JSONValue(export.losses.passwords), "providers": JSONValue(export.losses.providers),
                "factors": JSONValue(export.losses.factors), "oneTimeCodes": JSONValue(export.losses.secrets),
            ],
        ]
        return Outcome(text: file == "-" ? "" : text, json: .object(json))
    }

    private static func notes(_ losses: UserExport.Losses, _ isComplete: Bool) -> [String] {
        let advice = isComplete ? "" : "; --all-fields exports them"
        var notes: [String] = []
        func note(_ count: Int, _ what: String, _ advice: String) {
            if count > 0 { notes.append("\(count) \(count == 1 ? "user" : "users") without \(what), which the file cannot have\(advice)") }
        }
        note(losses.passwords, "the password, whose hash is of another algorithm", advice)
        note(losses.providers, "linked accounts of other providers than Google, Facebook, Twitter and GitHub", advice)
        note(losses.factors, "second factors", advice)
        note(losses.secrets, "one-time codes as a second factor", "")
        return notes
    }
}

/// `hearth auth:import`: reads users from a file.
struct AuthImport: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:import", abstract: "Imports users from a file in JSON or CSV, in the formats of the Firebase tools.",
        discussion: """
            A user whose uid exists is replaced as a whole, also the password, and the sessions end. Users that are refused are reported \
            with their line; the others are imported.

            Examples:
              hearth auth:import users.json --hash-algo SCRYPT --hash-key jxspr8Ki... --salt-separator Bw== --rounds 8 --mem-cost 14
              hearth auth:import users.csv --hash-algo BCRYPT
              hearth auth:import users.csv --without-passwords
            """)

    @Argument(help: ArgumentHelp("The file to read; - for standard input.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("json or csv. (default: as the file's name says)", valueName: "format"))
    var format: UserFileFormat?

    @OptionGroup(title: "Password hashes") var hashes: HashOptions
    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    /// The most refused users in the result.
    private static let refusalsMax = 1000

    private var actualFormat: UserFileFormat? { format ?? UserFileFormat(fileName: file) }

    func validate() throws {
        if actualFormat == nil { throw ValidationError(UserFileFormat.advice) }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let input = try InputData(data: nil, file: file)
        // An invalid file is refused before anything is written.
        if input.canRewind {
            try Self.read(input, actualFormat ?? .json, Progress("Checking", total: input.length)) { _ in }
            input.rewind()
        }
        var refusals: [UserImport.Refusal] = []
        var run = UserImport(tenant.users(client), hashing: hashes.hashing, takesPasswords: !hashes.withoutPasswords) { refusal in
            if refusals.count < Self.refusalsMax { refusals.append(refusal) }
            Terminal.endProgress()
            let user = refusal.uid.map { " (\(PrintableText.line($0)))" } ?? ""
            Terminal.writeError("\(input.name):\(refusal.line): user \(refusal.row)\(user): \(PrintableText.line(refusal.reason))")
        }
        do throws(ClientFailure) {
            let progress = Progress("Importing", total: input.length)
            try Self.read(input, actualFormat ?? .json, progress) { (row) throws(ClientFailure) in try run.take(row) }
            try run.flush()
            progress.end()
        } catch {
            let done = run.imported == 0 ? "no user was imported" : "\(run.imported) users were imported before"
            throw ClientFailure(error.kind, "\(error.message); \(done)", details: error.details)
        }
        return Self.outcome(run, refusals)
    }

    private static func outcome(_ run: UserImport, _ refusals: [UserImport.Refusal]) -> Outcome {
        var text = "\(run.imported) \(run.imported == 1 ? "user" : "users") imported"
        if run.refused > 0 { text += ", \(run.refused) refused" }
        let listed = refusals.map { refusal -> JSONValue in
            var entry: JSONObject = ["row": JSONValue(refusal.row), "line": JSONValue(refusal.line), "reason": .string(refusal.reason)]
            entry["uid"] = refusal.uid.map { .string($0) }
            return .object(entry)
        }
        return Outcome(
            text: text, json: ["imported": JSONValue(run.imported), "refused": JSONValue(run.refused), "refusals": .array(listed)],
            isSuccess: run.refused == 0)
    }

    /// Reads the users of a file.
    private static func read(
        _ input: InputData, _ format: UserFileFormat, _ progress: Progress, _ take: (UserRow) throws(ClientFailure) -> Void
    ) throws(ClientFailure) {
        var reader = UserFileReader(format)
        var buffer = ByteBuffer()
        var count = 0
        while true {
            buffer.clear()
            try input.read(into: &buffer)
            let isAtEnd = buffer.isEmpty
            if isAtEnd { reader.finish() } else { reader.append(buffer.bytes) }
            count += buffer.count
            while let row = try next(&reader, input) { try take(row) }
            progress.update(count)
            if isAtEnd { break }
        }
        progress.end()
    }

    private static func next(_ reader: inout UserFileReader, _ input: InputData) throws(ClientFailure) -> UserRow? {
        do throws(UserFileError) {
            return try reader.next()
        } catch {
            throw ClientFailure(.invalidInput, "\(input.name):\(error)")
        }
    }
}

/// The algorithm of password hashes in a file, in the options of the Firebase tools.
struct HashOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The algorithm: \(PasswordHashing.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "algorithm"))
    var hashAlgo: PasswordHashing.Algorithm?

    @Option(parsing: .unconditional, help: ArgumentHelp("The key of HMAC or SCRYPT, in Base64.", valueName: "key"))
    var hashKey: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The separator that SCRYPT appends to salts, in Base64.", valueName: "separator"))
    var saltSeparator: String?

    @Option(help: ArgumentHelp("The number of rounds, or of iterations of ARGON2.", valueName: "count"))
    var rounds: Int?

    @Option(help: ArgumentHelp("The memory cost of SCRYPT, the CPU and memory cost of STANDARD_SCRYPT, or the KiB of ARGON2.", valueName: "cost"))
    var memCost: Int?

    @Option(help: ArgumentHelp("The parallelization of STANDARD_SCRYPT or ARGON2.", valueName: "count"))
    var parallelization: Int?

    @Option(help: ArgumentHelp("The block size of STANDARD_SCRYPT.", valueName: "size"))
    var blockSize: Int?

    @Option(help: ArgumentHelp("The length of the hashes of STANDARD_SCRYPT or ARGON2, in bytes.", valueName: "bytes"))
    var dkLen: Int?

    @Option(help: ArgumentHelp("The variant of ARGON2, of version 1.3: ID, I or D. (default: ID)", valueName: "variant"))
    var argonType: PasswordHashing.ArgonKind?

    @Option(help: ArgumentHelp("SALT_FIRST or PASSWORD_FIRST, for digests and HMAC.", valueName: "order"))
    var hashInputOrder: String?

    @Flag(help: "Leave out the passwords.")
    var withoutPasswords = false

    /// Nil if no algorithm is named.
    var hashing: PasswordHashing? {
        guard let hashAlgo else { return nil }
        var hashing = PasswordHashing(hashAlgo)
        hashing.key = hashKey
        hashing.saltSeparator = saltSeparator
        hashing.rounds = rounds
        hashing.memoryCost = memCost
        hashing.blockSize = blockSize
        hashing.parallelization = parallelization
        hashing.derivedKeyLength = dkLen
        hashing.argonKind = argonType
        hashing.isSaltFirst = hashInputOrder.map { $0.uppercased() == "SALT_FIRST" }
        return hashing
    }

    func validate() throws {
        if let order = hashInputOrder, !["SALT_FIRST", "PASSWORD_FIRST"].contains(order.uppercased()) {
            throw ValidationError("--hash-input-order must be SALT_FIRST or PASSWORD_FIRST")
        }
        if let hashing {
            if withoutPasswords { throw ValidationError("--hash-algo and --without-passwords exclude each other") }
            if argonType != nil, hashing.algorithm != .ARGON2 { throw ValidationError("--argon-type needs --hash-algo ARGON2") }
            if let fault = hashing.fault { throw ValidationError(fault) }
            return
        }
        let given: [(String, Bool)] = [
            ("--hash-key", hashKey != nil), ("--salt-separator", saltSeparator != nil), ("--rounds", rounds != nil), ("--mem-cost", memCost != nil),
            ("--parallelization", parallelization != nil), ("--block-size", blockSize != nil), ("--dk-len", dkLen != nil),
            ("--argon-type", argonType != nil), ("--hash-input-order", hashInputOrder != nil),
        ]
        if let option = given.first(where: \.1)?.0 { throw ValidationError("\(option) needs --hash-algo") }
    }
}
