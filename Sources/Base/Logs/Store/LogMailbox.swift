import HearthBytes
import Synchronization

/// A bounded queue of lines for one follower of the log. Lines that arrive while it is full are only counted.
package final class LogMailbox: Sendable {
    private struct State: ~Copyable {
        var lines = ByteBuffer()
        var dropped = 0
        var isSignalled = false
    }

    private let filter: LogFilter
    private let state = Mutex(State())
    private let signal: @Sendable () -> Void

    /// The most bytes that wait.
    static let bytesMax = 1 << 20

    /// - Parameter signal: called on any thread when lines have arrived; not called again before they are taken.
    package init(_ filter: LogFilter, signal: @escaping @Sendable () -> Void) {
        self.filter = filter
        self.signal = signal
    }

    /// Queues the lines that match the filter.
    func offer(_ bytes: Span<UInt8>) {
        let mustSignal = state.withLock { state in
            LogScan.forEachLine(bytes) { line in
                guard let id = LogScan.id(line), filter.matches(line, id: id) else { return }
                guard state.dropped == 0, state.lines.count + line.count < Self.bytesMax else { return state.dropped += 1 }
                state.lines.append(line)
                state.lines.append(UInt8(ascii: "\n"))
            }
            guard !state.isSignalled, !state.lines.isEmpty || state.dropped > 0 else { return false }
            state.isSignalled = true
            return true
        }
        if mustSignal { signal() }
    }

    /// Removes and returns all lines, with the number of later lines that did not fit.
    package func take() -> (lines: [UInt8], dropped: Int) {
        state.withLock { state in
            state.isSignalled = false
            let taken = (state.lines.array(), state.dropped)
            state.lines.clear(keepingAtMost: 64 * 1024)
            state.dropped = 0
            return taken
        }
    }
}
