import Configuration
import Files
import Glibc

/// The process behind `hearth exec` that starts the host and the command, and ends all of their processes.
struct ExecKeeper {
    private let options: Exec
    private let folder: ScratchFolder
    private let events: ProcessEvents
    private let logFile: String

    /// Time for leftover processes of the command to end after SIGTERM.
    private static let leftoverMilliseconds: Int32 = 2000
    /// Time for the host to end, with temporary and with kept data.
    private static let hostMilliseconds: (thrownAway: Int32, kept: Int32) = (5000, 60000)
    /// The delay before the command shows a user at a terminal what it waits for.
    private static let patienceMilliseconds: Int32 = 500

    init(options: Exec, lifeline: Int32, folder: ScratchFolder) {
        self.options = options
        self.folder = folder
        _ = fcntl(lifeline, F_SETFD, FD_CLOEXEC)
        // Writes to the terminal are allowed although this process is not in its foreground group.
        signal(SIGTTOU, SIG_IGN)
        logFile = "\(folder.path)/host.log"
        events = ProcessEvents(lifeline: lifeline)
    }

    /// Early ends without the command's exit status.
    private enum Stop: Error {
        /// Print this and end with status 1.
        case failed(String)
        /// End with this status.
        case ended(Int32)
        /// The caller has ended.
        case callerGone
    }

    /// - Returns: the exit status.
    func run() -> Int32 {
        ProcessFamily.adoptOrphans()
        defer {
            ProcessFamily.killAll()
            folder.remove()
        }
        do throws(Stop) {
            let host = try startHost()
            let announcement = try awaitReady(host)
            let environment = environment(announcement)
            try importData(environment)
            let status = try runCommand(environment, host)
            try end(host)
            return status
        } catch {
            switch error {
            case .failed(let sentence):
                Terminal.writeError("hearth: \(sentence)")
                return 1
            case .ended(let status): return status
            case .callerGone: return 1
            }
        }
    }

    // MARK: The host

    private var dataDirectory: String { options.keptData ?? "\(folder.path)/data" }

    private func startHost() throws(Stop) -> pid_t {
        var pipe: [Int32] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0 else { throw .failed("no pipe can be made (\(Self.reason()))") }
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let log = options.log == "-" ? dup(STDERR_FILENO) : open(options.log ?? logFile, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard log >= 0 else { throw .failed("\(options.log ?? logFile) cannot be written (\(Self.reason())); name another file with --log") }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        var program = StartedProgram([
            Terminal.executable, "serve", "--config", options.config, "--host", "127.0.0.1", "--port", "0", "--data-dir", dataDirectory, "--mode",
            options.mode.rawValue, "--announce", "3",
        ])
        (program.standardInput, program.standardOutput, program.standardError, program.fourth) = (null, log, log, pipe[1])
        program.closesOthers = true
        program.isSessionLeader = true
        program.diesWithParent = true
        let host = program.start()
        for descriptor in [pipe[1], log, null] { close(descriptor) }
        guard host > 0 else { throw .failed("the host cannot be started (\(String(cString: strerror(-host))))") }
        events.expectAnnouncement(on: pipe[0])
        return host
    }

    private func awaitReady(_ host: pid_t) throws(Stop) -> HostAnnouncement {
        defer { Terminal.endProgress() }
        while true {
            switch events.next(withinMilliseconds: Self.patienceMilliseconds) {
            case .announcement(let bytes):
                guard let announcement = HostAnnouncement(parsing: bytes) else { continue }
                guard announcement.refusals.isEmpty else {
                    throw .failed(announcement.refusals.joined(separator: "\nhearth: "))
                }
                return announcement
            case .ended(host, _): throw .failed(hostsLastWords ?? "the host ended before it served")
            case let event: try heed(event, beforeCommand: true)
            }
            if Terminal.showsProgress { Terminal.showProgress("Starting the host") }
        }
    }

    /// The output of a host that did not start: its sentences, without the program's name before the first.
    private var hostsLastWords: String? {
        guard options.log != "-", let text = try? WholeFile.readText(options.log ?? logFile, sizeBytesMax: 1 << 20) else { return nil }
        let lines = text.split(whereSeparator: \.isNewline).suffix(20)
        guard let first = lines.first else { return nil }
        return ([first.hasPrefix("hearth: ") ? first.dropFirst("hearth: ".count) : first] + lines.dropFirst()).joined(separator: "\n")
    }

    private func end(_ host: pid_t) throws(Stop) {
        ProcessFamily.signal(SIGTERM, sparing: host)
        try wait(withinMilliseconds: Self.leftoverMilliseconds) { ProcessFamily.descendants(sparing: host).isEmpty }
        ProcessFamily.signal(SIGKILL, sparing: host)
        kill(host, SIGTERM)
        let patience = options.keptData == nil ? Self.hostMilliseconds.thrownAway : Self.hostMilliseconds.kept
        try wait(withinMilliseconds: patience) { !ProcessFamily.descendants().contains(host) }
    }

    /// Waits until a condition holds or the time is over.
    private func wait(withinMilliseconds milliseconds: Int32, _ condition: () -> Bool) throws(Stop) {
        let step: Int32 = 20
        var waited: Int32 = 0
        while !condition(), waited < milliseconds {
            let event = events.next(withinMilliseconds: step)
            if event == .callerGone { throw .callerGone }
            if event == .timeout { waited += step }
        }
    }

    // MARK: The command

    private func environment(_ announcement: HostAnnouncement) -> [String] {
        let token = (try? WholeFile.readText("\(dataDirectory)/admin-token", sizeBytesMax: 1024))?.filter { !$0.isWhitespace } ?? ""
        let own = [
            "FIREBASE_DATABASE_EMULATOR_HOST": announcement.address, "FIREBASE_AUTH_EMULATOR_HOST": announcement.address,
            "FUNCTIONS_EMULATOR_HOST": announcement.address, "CLOUD_TASKS_EMULATOR_HOST": announcement.address,
            "HEARTH_URL": announcement.url, "HEARTH_TOKEN": token,
            "GCLOUD_PROJECT": announcement.project, "GOOGLE_CLOUD_PROJECT": announcement.project,
        ]
        var inherited: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if own[String(text.prefix { $0 != "=" })] == nil { inherited.append(text) }
            next += 1
        }
        return inherited + own.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }

    private func importData(_ environment: [String]) throws(Stop) {
        guard let file = options.importFile else { return }
        let status = try run([Terminal.executable, "database:import", "/", file, "--force"], environment, host: nil, isQuiet: true)
        if status != 0 { throw .ended(1) }
    }

    private func runCommand(_ environment: [String], _ host: pid_t) throws(Stop) -> Int32 {
        try run(options.command, environment, host: host, isQuiet: false)
    }

    /// Runs a program in the foreground group of the terminal.
    private func run(_ arguments: [String], _ environment: [String], host: pid_t?, isQuiet: Bool) throws(Stop) -> Int32 {
        var program = StartedProgram(arguments)
        program.environment = environment
        program.group = getpgid(getppid())
        let null = isQuiet ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1
        defer { if isQuiet { close(null) } }
        if isQuiet { (program.standardInput, program.standardOutput) = (null, null) }
        let child = program.start()
        guard child > 0 else {
            Terminal.writeError("hearth: \(arguments[0]) cannot be run (\(String(cString: strerror(-child)).lowercased()))")
            throw .ended(child == -ENOENT ? 127 : 126)
        }
        while true {
            switch events.next() {
            case .ended(child, let status): return ProcessEnding.exitStatus(status)
            case .ended(let pid, _) where pid == host:
                Terminal.writeError("hearth: the host ended while \(arguments[0]) ran; use --log FILE to see why")
            case .signal(let number, let isFromTerminal): if !isFromTerminal { kill(child, number) }
            case let event: try heed(event, beforeCommand: false)
            }
        }
    }

    private func heed(_ event: ProcessEvents.Event, beforeCommand: Bool) throws(Stop) {
        switch event {
        case .callerGone: throw .callerGone
        case .signal(let number, _) where beforeCommand && number != SIGUSR1 && number != SIGUSR2: throw .ended(128 + number)
        case .signal, .ended, .announcement, .timeout: break
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)).lowercased() }
}
