import EventLoop
import Glibc
import HearthBytes
import Synchronization

/// Writes log lines to standard error and into the store, complete and in order.
///
/// A separate thread writes to standard error: a reader that does not read, such as a stopped terminal, must not block the host.
/// Lines beyond the buffer's limit are dropped and counted.
package final class LogOutput: @unchecked Sendable {
    // Unchecked: semaphores are thread-safe, and all mutable state is protected by the mutex.

    /// The format of a line.
    package enum Style: Sendable {
        /// For people: time, severity, subject, message.
        case text(hasColour: Bool)
        /// For programs: one JSON object.
        case json

        /// Text on a terminal, with colours if it supports them; JSON elsewhere.
        static func suited(to descriptor: Int32) -> Style {
            guard isatty(descriptor) == 1 else { return .json }
            let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
            return .text(hasColour: !isDumb && getenv("NO_COLOR") == nil)
        }
    }

    /// Counters of the log.
    package struct Figures: Sendable {
        /// Logged lines, including dropped ones.
        package var lines = 0
        package var droppedByOutput = 0
        /// Bytes that functions logged beyond their limit.
        package var limitedBytes = 0
    }

    /// The most bytes that wait to be written.
    static let waitingBytesMax = 4 << 20

    private struct State: ~Copyable {
        var figures = Figures()
        var waiting = ByteBuffer()
        var scratch = ByteBuffer()
        var text: LogText?
        var droppedLines = 0
        var isWriting = false
    }

    private let descriptor: Int32
    private let state: Mutex<State>
    private let wake: UnsafeMutablePointer<sem_t>
    /// The store of lines; nil if they are not kept.
    package let store: LogStore?
    /// Whether standard error is read by a person.
    package let isTerminal: Bool

    /// - Parameter style: nil chooses by the type of the descriptor.
    /// - Throws: `LoopError` if no thread can be started.
    package init(descriptor: Int32 = STDERR_FILENO, style: Style? = nil, store: LogStore? = nil) throws(LoopError) {
        self.descriptor = descriptor
        self.store = store
        var text: LogText?
        if case .text(let hasColour) = style ?? .suited(to: descriptor) { text = LogText(hasColour: hasColour) }
        isTerminal = text != nil
        state = Mutex(State(text: text))
        wake = .allocate(capacity: 1)
        sem_init(wake, 0, 0)
        try DetachedThread.start { [self] in writeForever() }
        try store?.start { [unowned self] in write($0) }
    }

    /// Queues a line.
    package func write(_ line: LogLine) {
        let time = WallClock.now()
        let isFirst = state.withLock { state in
            state.figures.lines += 1
            let isFull = state.waiting.count >= Self.waitingBytesMax
            if isFull {
                state.droppedLines += 1
                state.figures.droppedByOutput += 1
            }
            let wasEmpty = state.waiting.isEmpty
            if store != nil || state.text == nil && !isFull {
                state.scratch.clear(keepingAtMost: 64 * 1024)
                line.appendMembers(time: time, to: &state.scratch)
            }
            // Under the same lock, so that the order is the same in both.
            store?.append(state.scratch.bytes, time: time)
            guard !isFull else { return false }
            append(line, time, &state)
            return wasEmpty
        }
        if isFirst { sem_post(wake) }
    }

    private func append(_ line: LogLine, _ time: WallClock, _ state: inout State) {
        if state.text != nil {
            if line.isForTerminals { state.text?.append(line, time: time, to: &state.waiting) }
        } else {
            var members = ByteBuffer()
            swap(&members, &state.scratch)
            state.waiting.append("{")
            state.waiting.append(members.bytes)
            swap(&members, &state.scratch)
        }
    }

    /// The current counters.
    package var figures: Figures { state.withLock { $0.figures } }

    /// Counts bytes of a function's lines that were refused before this.
    package func countLimited(bytes: Int) { state.withLock { $0.figures.limitedBytes += bytes } }

    /// Waits up to two seconds until all lines are written.
    package func flush() {
        for _ in 0..<2000 where state.withLock({ !$0.waiting.isEmpty || $0.isWriting }) { usleep(1000) }
        store?.flush()
    }

    private func writeForever() -> Never {
        while true {
            if sem_wait(wake) != 0 { continue }
            var lines = takeLines()
            while !lines.isEmpty {
                let count = lines.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count > 0 {
                    lines.consume(count)
                } else if errno == EAGAIN {
                    // Another process has made the open file non-blocking.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, -1)
                } else if errno != EINTR {
                    drop(&lines)
                }
            }
            state.withLock { $0.isWriting = false }
        }
    }

    /// Discards lines and counts them, because standard error is closed.
    private func drop(_ lines: inout ByteBuffer) {
        var count = 0
        for index in 0..<lines.count where lines.bytes[index] == UInt8(ascii: "\n") { count += 1 }
        lines.clear()
        state.withLock { $0.figures.droppedByOutput += count }
    }

    private func takeLines() -> ByteBuffer {
        state.withLock { state in
            var lines = ByteBuffer()
            swap(&lines, &state.waiting)
            state.isWriting = true
            guard state.droppedLines > 0 else { return lines }
            let text = "\(state.droppedLines) log lines were dropped: nobody read them fast enough"
            let line = LogLine(severity: .warning, label: "hearth", message: text)
            let time = WallClock.now()
            if state.text != nil {
                state.text?.append(line, time: time, to: &lines)
            } else {
                lines.append("{")
                line.appendMembers(time: time, to: &lines)
            }
            state.droppedLines = 0
            return lines
        }
    }
}
