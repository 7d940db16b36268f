import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import Logs
import PluginBuild

/// Tells crashes in the log, under the function and the call that met them, with the lines of source that led there.
///
/// Names and lines are found by a process of its own (``SymbolizerProcess``), one at a time. Belongs to the dispatcher's loop.
final class CrashLog {
    private let loop: EventLoop
    private let functionLog: FunctionLog
    private let executable: String
    private var waiting: [Crash] = []
    private var reading: Reading?
    /// Traces found before: a function usually crashes at the same place again.
    private var known: [[CrashReport.Frame]: CrashTrace] = [:]
    /// Called when no crash is left to be written.
    var becameIdle: () -> Void = {}

    /// Whether no process runs for it.
    var isIdle: Bool { reading == nil }

    private static let waitingMax = 32
    private static let knownMax = 256
    private static let patienceMilliseconds: UInt64 = 10_000
    /// How long a host that stops still waits for names.
    private static let stopPatienceMilliseconds: UInt64 = 2_000
    private var isStopping = false

    /// A crash to be written to the log.
    struct Crash {
        var report: CrashReport
        var origin: LogOrigin
        /// The plugin's library as the worker had loaded it; kept until its names are read, also where it was refused.
        var artifact: Artifact
        /// The message that Swift's runtime printed before the crash.
        var message: String?

        /// The calls in the library.
        var ownFrames: [CrashReport.Frame] { report.frames.filter { $0.object == artifact.path } }

        /// A call without a name: `libGreeter.so+0x1234`.
        func place(_ frame: CrashReport.Frame) -> String {
            let offset = "0x" + String(frame.offset, radix: 16)
            guard let object = frame.object else { return offset }
            let file = object == artifact.path ? artifact.displayName : object.isEmpty ? "hearth" : object
            return "\(file.split(separator: "/").last.map(String.init) ?? file)+\(offset)"
        }

        /// Its calls where no names are known.
        var withoutNames: CrashTrace { CrashTrace(answer: "", unnamed: (ownFrames.isEmpty ? report.frames : ownFrames).map(place)) }
    }

    /// - Parameter executable: this program.
    init(loop: EventLoop, functionLog: FunctionLog, executable: String) {
        self.loop = loop
        self.functionLog = functionLog
        self.executable = executable
    }

    /// Tells a crash, soon.
    func tell(_ crash: Crash) {
        let frames = crash.ownFrames
        if frames.isEmpty {
            write(crash, crash.withoutNames)
        } else if let trace = known[frames] {
            write(crash, trace)
        } else if waiting.count < Self.waitingMax, !isStopping || isIdle {
            waiting.append(crash)
            readNext()
        } else {
            write(crash, crash.withoutNames)
        }
    }

    /// Writes the crashes that wait, without names, and gives the one whose names are being read a short time: the host stops.
    func stop() {
        isStopping = true
        let left = waiting
        waiting = []
        for crash in left { write(crash, crash.withoutNames) }
        reading?.end(afterMilliseconds: Self.stopPatienceMilliseconds)
    }

    private func readNext() {
        guard reading == nil, !waiting.isEmpty else { return }
        let crash = waiting.removeFirst()
        let tool = Toolchain.find()?.symbolizer ?? ""
        let offsets = crash.ownFrames.map { "\($0.offset)" }
        let command = ChildProcess.Command(
            program: executable, arguments: ["hearth", SymbolizerProcess.command, tool, crash.artifact.path] + offsets,
            environment: ["PATH=/usr/bin:/bin"], directory: "/", descriptors: [.null, .socket, .null])
        let patience = isStopping ? Self.stopPatienceMilliseconds : Self.patienceMilliseconds
        do throws(LoopError) {
            reading = try Reading(command, loop: loop, patienceMilliseconds: patience) { [unowned self] answer in
                reading = nil
                finish(crash, answer)
            }
        } catch {
            finish(crash, "")
        }
    }

    private func finish(_ crash: Crash, _ answer: String) {
        let trace = CrashTrace(answer: answer, unnamed: crash.ownFrames.map(crash.place))
        if known.count >= Self.knownMax { known.removeAll() }
        known[crash.ownFrames] = trace
        write(crash, trace)
        let same = waiting.filter { $0.ownFrames == crash.ownFrames }
        waiting.removeAll { $0.ownFrames == crash.ownFrames }
        for crash in same { write(crash, trace) }
        readNext()
        if isIdle { becameIdle() }
    }

    private func write(_ crash: Crash, _ trace: CrashTrace) {
        let text = CrashWords.describe(crash.report, message: crash.message ?? trace.failure.map { "fatal error: \($0)" })
        functionLog.recordCrash(crash.origin, text, calls: trace.calls)
    }
}

/// A process whose output is read to its end.
private final class Reading: StreamHandler {
    private let process: ChildProcess
    private var answer: [UInt8] = []
    private var timer: Timer?
    private var hasEnded = (output: false, process: false)
    private var completion: ((String) -> Void)?

    /// - Parameter completion: called once the process has ended, never before this has returned.
    init(
        _ command: ChildProcess.Command, loop: EventLoop, patienceMilliseconds: UInt64, completion: @escaping (String) -> Void
    ) throws(LoopError) {
        process = try ChildProcess(loop: loop, command)
        self.completion = completion
        process.exited = { [self] _ in
            hasEnded.process = true
            endIfComplete()
        }
        process.sockets[0].handler = self
        process.sockets[0].startReading()
        timer = Timer(loop: loop) { [self] in kill() }
        timer?.start(afterMilliseconds: patienceMilliseconds)
    }

    /// Ends the process after that time at the latest.
    func end(afterMilliseconds: UInt64) { timer?.start(afterMilliseconds: afterMilliseconds) }

    /// Ends the process and the tool that it has started: it leads their group.
    private func kill() {
        if !hasEnded.process { Glibc.kill(-process.pid, SIGKILL) }
    }

    private func endIfComplete() {
        guard hasEnded.process, hasEnded.output else { return }
        timer = nil
        let completion = completion
        self.completion = nil
        completion?(String(decoding: answer, as: UTF8.self))
    }

    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        answer += bytes.array()
        if answer.count > SymbolizerProcess.answerBytesMax { kill() }
    }

    func streamDidEnd(_ stream: Stream) { stream.close() }
    func stream(_ stream: Stream, didFail error: LoopError) {}
    func streamDidDrain(_ stream: Stream) {}

    func streamDidClose(_ stream: Stream) {
        hasEnded.output = true
        endIfComplete()
    }
}
