import CLinux
import Glibc

/// A child process. The loop reaps it when it ends.
public final class ChildProcess {
    /// One descriptor of the child; the position in the list is its number.
    public enum Descriptor: Sendable {
        /// `/dev/null`.
        case null
        /// A descriptor of the parent.
        case inherit(Int32)
        /// A Unix socket. The parent gets the other end as a stream, in the order requested.
        case socket
        /// A Unix socket whose other end another loop of the parent adopts; see ``takeDescriptors()``.
        case socketForOthers
    }

    /// A program to start.
    public struct Command: Sendable {
        /// The program's file.
        public var program: String
        /// The arguments; the first one is the program's name.
        public var arguments: [String]
        /// The child's whole environment, `NAME=value`.
        public var environment: [String]
        /// The working directory; nil for that of this process.
        public var directory: String?
        /// All descriptors of the child.
        public var descriptors: [Descriptor]
        /// Whether the child starts a new session, so that signals of a terminal do not reach it.
        public var leadsSession: Bool

        /// - Parameter program: the file to run; nil for `arguments[0]`.
        public init(
            program: String? = nil, arguments: [String], environment: [String], directory: String?, descriptors: [Descriptor],
            leadsSession: Bool = true
        ) {
            self.program = program ?? arguments.first ?? ""
            self.arguments = arguments
            self.environment = environment
            self.directory = directory
            self.descriptors = descriptors
            self.leadsSession = leadsSession
        }
    }

    /// How a process ended.
    public struct Ending: Sendable, Equatable {
        /// Its exit status; 0 where a signal ended it.
        public var status: Int
        /// The signal that ended it; 0 where it exited by itself.
        public var signal: Int
    }

    /// Polling interval where the system cannot notify about the end: kernels before 5.3, sandboxes, valgrind, no free descriptor.
    private static let lookMilliseconds: UInt64 = 20

    private var poll: Poll?
    private var timer: Timer?
    private var descriptor: Int32 = -1
    private var forOthers: [Int32] = []
    /// Called on the loop once the process is reaped, at the earliest in the loop's next turn.
    public var exited: ((Ending) -> Void)?

    /// The process id.
    public private(set) var pid: Int32 = 0
    /// The parent's ends of the requested sockets.
    public private(set) var sockets: [Stream] = []
    /// How it ended, once it has.
    public private(set) var ending: Ending?

    /// Starts a program synchronously. Blocks the loop for about a millisecond.
    ///
    /// - Throws: `LoopError`, for example `ENOENT` for a missing program or `EAGAIN` at the process limit.
    public convenience init(loop: EventLoop, _ command: Command) throws(LoopError) {
        let spawn = try Spawn(command)
        try self.init(loop: loop, spawn, spawn.run())
    }

    /// Starts a program without blocking the loop. Call on the loop.
    ///
    /// A pool thread starts the program. Pool threads live as long as this process, so a child that dies with the thread that started it
    /// dies with the process.
    ///
    /// - Parameter completion: called on the loop, after this function has returned.
    public static func start(loop: EventLoop, _ command: Command, completion: @escaping (Result<ChildProcess, LoopError>) -> Void) {
        let completion = LoopBound(completion, loop: loop)
        do throws(LoopError) {
            let spawn = try Spawn(command)
            loop.offload { spawn.run() } then: { spawned in
                do throws(LoopError) {
                    completion.value(.success(try ChildProcess(loop: loop, spawn, spawned)))
                } catch {
                    completion.value(.failure(error))
                }
            }
        } catch {
            loop.post { completion.value(.failure(error)) }
        }
    }

    private init(loop: EventLoop, _ spawn: Spawn, _ spawned: Spawn.Outcome) throws(LoopError) {
        var (own, others) = (spawn.own, spawn.others)
        // Close the ends here that have not become streams, and those that nobody can take.
        defer { for end in own + others + spawn.theirs { close(end) } }
        (pid, descriptor) = (spawned.pid, spawned.watch)
        try check(pid, "spawn", spawn.command.program)
        do throws(LoopError) {
            while !own.isEmpty { sockets.append(try Stream.adopting(descriptor: own.removeFirst(), loop: loop)) }
            // Held until the exit is reported.
            if descriptor < 0 {
                let timer = Timer(loop: loop) { [self] in reap() }
                self.timer = timer
                timer.start(afterMilliseconds: Self.lookMilliseconds, repeatMilliseconds: Self.lookMilliseconds)
            } else {
                let poll = try Poll(loop: loop, descriptor: descriptor) { [self] _ in reap() }
                self.poll = poll
                try poll.watch(.readable)
            }
        } catch {
            Glibc.kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            for stream in sockets { stream.close() }
            letGo()
            throw error
        }
        swap(&others, &forOthers)
    }

    deinit { for end in forOthers { close(end) } }

    /// The parent's ends of the sockets for other loops, in the order requested. The caller owns them from now on.
    public func takeDescriptors() -> [Int32] {
        defer { forOthers = [] }
        return forOthers
    }

    /// Sends a signal; does nothing once the process has ended.
    public func kill(_ signal: Int32) {
        if ending == nil { Glibc.kill(pid, signal) }
    }

    private func reap() {
        var status: Int32 = 0
        guard ending == nil, waitpid(pid, &status, WNOHANG) == pid else { return }
        let signal = Int(status & 0x7F)
        let ending = Ending(status: signal == 0 ? Int(status >> 8 & 0xFF) : 0, signal: signal)
        self.ending = ending
        letGo()
        let exited = self.exited
        self.exited = nil
        exited?(ending)
    }

    private func letGo() {
        poll?.close()
        poll = nil
        timer?.close()
        timer = nil
        if descriptor >= 0 { close(descriptor) }
    }
}

/// A command with its sockets, which any thread can start.
private struct Spawn: Sendable {
    /// - pid: the process id, or a negated errno.
    /// - watch: a descriptor that is readable once the process has ended; -1 if there is none.
    typealias Outcome = (pid: Int32, watch: Int32)

    let command: ChildProcess.Command
    /// The ends of the sockets: the parent's, which become streams here or on other loops, and the child's, which are closed here.
    private(set) var own: [Int32] = []
    private(set) var others: [Int32] = []
    private(set) var theirs: [Int32] = []
    private var numbers: [Int32] = []

    init(_ command: ChildProcess.Command) throws(LoopError) {
        self.command = command
        for descriptor in command.descriptors {
            switch descriptor {
            case .null: numbers.append(-1)
            case .inherit(let number): numbers.append(number)
            case .socket, .socketForOthers:
                var ends: [Int32] = [-1, -1]
                let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
                guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
                    let error = LoopError(code: -errno, operation: "spawn", subject: command.program)
                    for end in own + others + theirs { close(end) }
                    throw error
                }
                if case .socket = descriptor { own.append(ends[0]) } else { others.append(ends[0]) }
                theirs.append(ends[1])
                numbers.append(ends[1])
            }
        }
    }

    func run() -> Outcome {
        let words = command.arguments.map { strdup($0) } + [nil]
        let variables = command.environment.map { strdup($0) } + [nil]
        let folder = command.directory.map { strdup($0) } ?? nil
        defer { for pointer in words + variables + [folder] { free(pointer) } }
        var watch: Int32 = -1
        let pid = linux_spawn(
            command.program, words.map { UnsafePointer($0) }, variables.map { UnsafePointer($0) }, folder, numbers, UInt32(numbers.count),
            command.leadsSession, &watch)
        return (pid, watch)
    }
}
