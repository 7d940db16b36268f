import Bytes
import Glibc
import JSON
import Synchronization

/// Puts log lines on standard error, whole and in order, from a thread of its own: a reader that does not read, a stopped
/// terminal for example, must not stop the host. What cannot be kept meanwhile is dropped and counted.
final class LogOutput: @unchecked Sendable {
    // Unchecked: a semaphore is made to be used from any thread, and all that changes is behind the mutex.

    /// How a line looks.
    enum Style: Sendable {
        /// For people: time, severity, what it is about, the message, then `name=value`.
        case text
        /// For programs: one JSON object.
        case json
    }

    /// Bytes that may wait to be written.
    static let waitingBytesMax = 4 << 20

    /// What is counted of the log.
    struct Figures: Sendable {
        /// Lines that were logged, those included that were dropped.
        var lines = 0
        var droppedByOutput = 0
        /// What functions logged beyond their limit.
        var limitedBytes = 0
    }

    private struct State: ~Copyable {
        var figures = Figures()
        var waiting = ByteBuffer()
        var droppedLines = 0
        var isWriting = false
    }

    private let style: Style
    private let descriptor: Int32
    private let state = Mutex(State())
    private let wake: UnsafeMutablePointer<sem_t>

    /// - Parameter style: nil takes text on a terminal and JSON elsewhere.
    init(descriptor: Int32 = STDERR_FILENO, style: Style? = nil) {
        self.descriptor = descriptor
        self.style = style ?? (isatty(descriptor) == 1 ? .text : .json)
        wake = .allocate(capacity: 1)
        sem_init(wake, 0, 0)
        var thread = pthread_t()
        // The thread lives as long as the process, and keeps this alive.
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<LogOutput>.fromOpaque(context).takeUnretainedValue().writeForever()
            }, Unmanaged.passRetained(self).toOpaque())
        pthread_detach(thread)
    }

    /// Queues one line.
    func write(severity: Severity, label: String, message: String, entries: [(String, JSONValue)]) {
        let isFirst = state.withLock { state in
            state.figures.lines += 1
            guard state.waiting.count < Self.waitingBytesMax else {
                state.droppedLines += 1
                state.figures.droppedByOutput += 1
                return false
            }
            let wasEmpty = state.waiting.isEmpty
            append(severity, label, message, entries, to: &state.waiting)
            return wasEmpty
        }
        if isFirst { sem_post(wake) }
    }

    /// What was counted so far.
    var figures: Figures { state.withLock { $0.figures } }

    /// So many bytes of a function's were not even asked to be written.
    func countLimited(bytes: Int) { state.withLock { $0.figures.limitedBytes += bytes } }

    /// Waits until everything is written, for at most two seconds.
    func flush() {
        for _ in 0..<2000 where state.withLock({ !$0.waiting.isEmpty || $0.isWriting }) { usleep(1000) }
    }

    private func writeForever() -> Never {
        while true {
            if sem_wait(wake) != 0 { continue }
            var lines = takeLines()
            while !lines.isEmpty {
                let count = lines.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count > 0 { lines.consume(count) } else if errno != EINTR { lines.clear() }
            }
            state.withLock { $0.isWriting = false }
        }
    }

    private func takeLines() -> ByteBuffer {
        state.withLock { state in
            var lines = ByteBuffer()
            swap(&lines, &state.waiting)
            state.isWriting = true
            if state.droppedLines > 0 {
                append(.warning, "hearth", "\(state.droppedLines) log lines were dropped: nobody read them fast enough", [], to: &lines)
                state.droppedLines = 0
            }
            return lines
        }
    }

    private func append(
        _ severity: Severity, _ label: String, _ message: String, _ entries: [(String, JSONValue)], to buffer: inout ByteBuffer
    ) {
        switch style {
        case .json: Self.appendJSON(severity, label, message, entries, to: &buffer)
        case .text: Self.appendText(severity, label, message, entries, to: &buffer)
        }
        buffer.append(UInt8(ascii: "\n"))
    }

    private static func appendJSON(
        _ severity: Severity, _ label: String, _ message: String, _ entries: [(String, JSONValue)], to buffer: inout ByteBuffer
    ) {
        var line = JSONObject([
            ("time", .string(WallClock.now().rfc3339)), ("severity", .string(severity.rawValue)), ("label", .string(label)),
            ("message", .string(message)),
        ])
        for (name, value) in entries { line[name] = value }
        JSONValue.object(line).write(to: &buffer)
    }

    private static func appendText(
        _ severity: Severity, _ label: String, _ message: String, _ entries: [(String, JSONValue)], to buffer: inout ByteBuffer
    ) {
        buffer.append("\(WallClock.now().timeOfDay) \(severity.rawValue.prefix(1).uppercased()) \(label): \(printable(message))")
        for (name, value) in entries where !["function", "plugin"].contains(name) {
            buffer.append(" \(name)=\(value.string.map(printable) ?? value.description)")
        }
    }

    /// Without control characters, which could rewrite what a terminal shows.
    private static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "\u{FFFD}" : $0 }))
    }
}
