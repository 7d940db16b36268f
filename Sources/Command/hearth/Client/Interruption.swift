import Glibc
import HearthJSON
import Synchronization

/// Reports the state of the deployment when a command is interrupted (Ctrl-C, or a signal of a service manager).
final class Interruption: Sendable {
    private struct State {
        var isSwitching = false
        var wasWarned = false
    }

    private let state = Mutex(State())
    private let isForProgram: Bool

    /// Watches for signals until the program ends.
    ///
    /// - Parameter isForProgram: whether standard output is for a program.
    init(isForProgram: Bool) {
        self.isForProgram = isForProgram
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        interruptionPipe = ends[1]
        startThread(reading: ends[0])
        for number in Self.signals {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(interruptionPipe, &byte, 1)
            }
        }
    }

    private static let signals = [SIGINT, SIGTERM]

    /// From now on the host may have changed something.
    func willSwitch() { state.withLock { $0.isSwitching = true } }

    /// The host has not changed anything.
    func didNotSwitch() { state.withLock { $0.isSwitching = false } }

    /// The command has reported its outcome: restores default signal handling.
    func end() { for number in Self.signals { signal(number, SIG_DFL) } }

    private func startThread(reading descriptor: Int32) {
        final class Watch {
            let interruption: Interruption
            let descriptor: Int32
            init(_ interruption: Interruption, _ descriptor: Int32) { (self.interruption, self.descriptor) = (interruption, descriptor) }
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Watch(self, descriptor)).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let watch = Unmanaged<Watch>.fromOpaque(argument).takeRetainedValue()
                var byte: UInt8 = 0
                while true {
                    let count = read(watch.descriptor, &byte, 1)
                    if count == 1 { watch.interruption.receive(Int32(byte)) } else if count == 0 || errno != EINTR { return nil }
                }
            }, argument)
        if result == 0 { pthread_detach(thread) } else { Unmanaged<Watch>.fromOpaque(argument).release() }
    }

    private func receive(_ number: Int32) {
        let before = state.withLock { state in
            defer { state.wasWarned = state.isSwitching }
            return state
        }
        Terminal.endProgress()
        guard before.isSwitching else { leave(number, "interrupted; nothing was changed") }
        guard before.wasWarned else {
            return Terminal.writeError("hearth: the host is switching; waiting for its answer. Interrupt again to leave without it")
        }
        leave(number, "interrupted while the host was switching: all functions were switched or none, and `hearth functions:list` shows it")
    }

    /// Ends the process by the signal itself, so that a shell can tell.
    private func leave(_ number: Int32, _ sentence: String) -> Never {
        if isForProgram { Terminal.write(JSONValue.object(["status": "error", "error": .string(sentence)]).description) }
        Terminal.writeError("hearth: \(sentence)")
        signal(number, SIG_DFL)
        kill(getpid(), number)
        _exit(128 + number)
    }
}

// Set once, before the signal handler that reads it is installed: a handler cannot capture context.
nonisolated(unsafe) private var interruptionPipe: Int32 = -1
