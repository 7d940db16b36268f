import CLinux
import Glibc

/// The process started as `hearth exec`. It starts the keeper process, which does the work, passes signals on to it, and cleans up if the
/// keeper is killed. The keeper does the same if this process is killed.
struct ExecCaller {
    /// - Returns: the exit status.
    func run() -> Int32 {
        guard let folder = ScratchFolder() else {
            return Self.refuse("no folder for temporary files can be made (\(Self.reason())); name another one with TMPDIR")
        }
        defer { folder.remove() }
        ProcessFamily.adoptOrphans()
        let events = ProcessEvents()
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
            return Self.refuse("no socket can be made (\(Self.reason()))")
        }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        let arguments =
            [Terminal.executable, "exec", "--lifeline", "\(ends[1])", "--folder", folder.path] + CommandLine.arguments.dropFirst(2)
        var program = StartedProgram(arguments)
        // A separate group, so that signals of the terminal to this group do not reach the keeper.
        program.group = 0
        let keeper = program.start()
        guard keeper > 0 else { return Self.refuse("\(arguments[0]) cannot be run (\(String(cString: strerror(-keeper))))") }
        close(ends[1])
        while true {
            switch events.next() {
            case .signal(let number, let isFromTerminal):
                send(ends[0], [UInt8(number), isFromTerminal ? 1 : 0], 2, Int32(MSG_NOSIGNAL))
            case .ended(keeper, let status):
                ProcessFamily.killAll()
                if status & 0x7F != 0 { Terminal.writeError("hearth: the supervisor of the host was killed") }
                return ProcessEnding.exitStatus(status)
            case .ended, .callerGone, .announcement, .timeout: break
            }
        }
    }

    private static func refuse(_ sentence: String) -> Int32 {
        Terminal.writeError("hearth: \(sentence)")
        return 1
    }

    private static func reason() -> String { String(cString: strerror(errno)).lowercased() }
}

/// A program to start.
struct StartedProgram {
    var arguments: [String]
    /// Nil to inherit.
    var environment: [String]?
    /// Nil to inherit.
    var standardInput: Int32?
    var standardOutput: Int32?
    var standardError: Int32?
    /// Descriptor 3 of the program.
    var fourth: Int32?
    /// Whether the other descriptors are closed.
    var closesOthers = false
    /// Nil to inherit, 0 for a new group.
    var group: pid_t?
    var isSessionLeader = false
    var diesWithParent = false

    init(_ arguments: [String]) { self.arguments = arguments }

    /// - Returns: its process id, or a negated error number if it cannot be run.
    func start() -> pid_t {
        let argumentPointers = arguments.map { strdup($0) }
        let environmentPointers = environment?.map { strdup($0) }
        defer { for pointer in argumentPointers + (environmentPointers ?? []) { free(pointer) } }
        let list = argumentPointers.map { UnsafePointer($0) } + [nil]
        let variables = environmentPointers.map { $0.map { UnsafePointer($0) } + [nil] }
        return list.withUnsafeBufferPointer { list in
            guard let variables else { return start(list.baseAddress, nil) }
            return variables.withUnsafeBufferPointer { start(list.baseAddress, $0.baseAddress) }
        }
    }

    private func start(_ list: UnsafePointer<UnsafePointer<CChar>?>?, _ variables: UnsafePointer<UnsafePointer<CChar>?>?) -> pid_t {
        var program = linux_program()
        program.arguments = list
        program.environment = variables
        program.standard = (standardInput ?? -1, standardOutput ?? -1, standardError ?? -1)
        program.fourth = fourth ?? -1
        program.closes_others = closesOthers ? 1 : 0
        program.group = group ?? -1
        program.is_session_leader = isSessionLeader ? 1 : 0
        program.dies_with_parent = diesWithParent ? 1 : 0
        return linux_start(&program)
    }
}
