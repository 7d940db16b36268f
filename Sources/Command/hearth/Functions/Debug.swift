import AdminProtocol
import ArgumentParser
import CommandClient
import Glibc
import HearthJSON
import Synchronization

/// `hearth debug`: lets a debugger attach to a worker.
struct Debug: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug", abstract: "Starts a worker of a function's plugin that waits for a debugger.",
        discussion: """
            Prints the process to attach to. Once a debugger is attached, or with Ctrl-C, the worker takes all calls of the plugin's functions with
            the same options, without deadlines. It ends with this command. For hosts in development mode on this machine.

            Example:
              hearth debug addMessage
            """)

    @Argument(help: "The function.")
    var name: String

    @OptionGroup var connection: ConnectionOptions

    private static let lookMicroseconds: UInt32 = 200_000
    /// The signals that have arrived.
    private static let interruptions = Atomic(0)

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let api = FunctionsClient(client)
        var state = try api.debug(name)
        // A signal interrupts the pause, not a request.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _ in _ = Debug.interruptions.wrappingAdd(1, ordering: .relaxed) } }
        show(state)
        var handled = 0
        while state.state != .ended {
            let arrived = Self.interruptions.load(ordering: .relaxed)
            if arrived == handled { usleep(Self.lookMicroseconds) }
            var request = DebugRequest(session: state.session)
            if Self.interruptions.load(ordering: .relaxed) > handled {
                handled += 1
                request.action = state.state == .waiting ? .continue : .end
            }
            let before = state
            state = try api.debug(name, request)
            if state.state != before.state || state.debugger != before.debugger { show(state) }
        }
        // The end by this command is a success.
        return Outcome(isSuccess: handled > 0)
    }

    private func show(_ state: DebugState) {
        if connection.json { return Terminal.write(state.json.description) }
        switch state.state {
        case .loading: break
        case .waiting:
            Terminal.write(
                """
                Process \(state.pid) of \(state.plugin) waits for a debugger:
                  lldb -p \(state.pid)
                  gdb -p \(state.pid)
                Set breakpoints, let it continue, and call \(state.function). Ctrl-C goes on without a debugger.
                """)
        case .running:
            let who = state.debugger.map { "Debugger \($0) is attached" } ?? "No debugger is attached"
            Terminal.write("\(who); the process takes the calls, without deadlines. Ctrl-C ends it.")
        case .ended: Terminal.write("Debugging has ended: \(PrintableText.line(state.reason ?? ""))")
        }
    }
}
