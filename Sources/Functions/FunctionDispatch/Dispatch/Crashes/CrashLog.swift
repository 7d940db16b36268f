import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import Logs
import PluginBuild

/// Logs crashes, each with the function and invocation that caused it and with the source lines of its stack.
///
/// Names and lines are found by a separate process (``SymbolizerProcess``), for one crash at a time. Belongs to the dispatcher's loop.
final class CrashLog {
    private let loop: EventLoop
    private let functionLog: FunctionLog
    private let executable: String
    private var waiting: [Crash] = []
    private var reading: Reading?
    /// Cache of traces: a function usually crashes at the same place again.
    private var known: [[CrashReport.Frame]: CrashTrace] = [:]
    /// Called when no crash is left to be logged.
    var becameIdle: () -> Void = {}

    /// Whether no symbolizer process is running.
    var isIdle: Bool { reading == nil }

    private static let waitingMax = 32
    private static let knownMax = 256
    private static let patienceMilliseconds: UInt64 = 10_000
    /// How long a stopping host waits for names.
    private static let stopPatienceMilliseconds: UInt64 = 2_000
    private var isStopping = false

    /// A crash to be logged.
    struct Crash {
        var report: CrashReport
        var origin: LogOrigin
        /// The plugin's library that the worker had loaded. The reference keeps the file until its names are read, even if it was refused.
        var artifact: Artifact
        /// The message that Swift's runtime printed before the crash.
        var message: String?
        /// Called with the text once the crash is logged.
        var told: ((CrashNotice) -> Void)?

        /// The frames in the library.
        var ownFrames: [CrashReport.Frame] { report.frames.filter { $0.object == artifact.path } }

        /// A frame without a name: `libGreeter.so+0x1234`.
        func place(_ frame: CrashReport.Frame) -> String {
            let offset = "0x" + String(frame.offset, radix: 16)
            guard let object = frame.object else { return offset }
            let file = object == artifact.path ? artifact.displayName : object.isEmpty ? "hearth" : object
            return "\(file.split(separator: "/").last.map(String.init) ?? file)+\(offset)"
        }

        /// The trace without names.
        var withoutNames: CrashTrace { CrashTrace(answer: "", unnamed: (ownFrames.isEmpty ? report.frames : ownFrames).map(place)) }
    }

    /// - Parameter executable: the path of this program.
    init(loop: EventLoop, functionLog: FunctionLog, executable: String) {
        self.loop = loop
        self.functionLog = functionLog
        self.executable = executable
    }

    /// Logs a crash once its names are known.
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

    /// Logs the waiting crashes without names, and limits the time for the one whose names are being read, because the host is stopping.
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
        crash.told?(CrashNotice(message: text, calls: trace.calls, function: crash.origin.function))
    }
}

/// A process and its output.
private final class Reading: StreamHandler {
    private let process: ChildProcess
    private var answer: [UInt8] = []
    private var timer: Timer?
    private var hasEnded = (output: false, process: false)
    private var completion: ((String) -> Void)?

    /// - Parameter completion: gets the output when the process has ended, never before `init` has returned.
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

    /// Sets the time after which the process is killed.
    func end(afterMilliseconds: UInt64) { timer?.start(afterMilliseconds: afterMilliseconds) }

    /// Kills the process and the tool that it has started, which is in its process group.
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
