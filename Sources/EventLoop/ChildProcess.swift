import CLibuv
import Glibc

/// A process that this one started, reaped by the loop when it ends.
public final class ChildProcess {
    /// What one of the child's descriptors is; their position in the list is the descriptor's number.
    public enum Descriptor {
        /// `/dev/null`.
        case null
        /// The parent's descriptor of this number.
        case inherit(Int32)
        /// A Unix socket whose other end the parent gets as a stream, in the order asked for.
        case socket
    }

    /// How a process ended.
    public struct Ending: Sendable, Equatable {
        /// Its exit status; 0 where a signal ended it.
        public var status: Int
        /// The signal that ended it; 0 where it exited by itself.
        public var signal: Int
    }

    private let handle: UnsafeMutablePointer<uv_process_t>
    /// Called on the loop once the process was reaped, which is never before the loop's next turn.
    public var exited: ((Ending) -> Void)?

    /// The process id.
    public private(set) var pid: Int32 = 0
    /// The parent's ends of the sockets that were asked for.
    public private(set) var sockets: [Stream] = []
    /// How it ended, once it has.
    public private(set) var ending: Ending?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its file; `arguments[0]` where nil, which else is only what it is called.
    ///   - environment: the child's whole environment, `NAME=value`.
    /// - Throws: `LoopError`, for example `ENOENT` for a missing program or `EAGAIN` at the process limit.
    public init(
        loop: EventLoop, program: String? = nil, arguments: [String], environment: [String], directory: String?, descriptors: [Descriptor]
    ) throws(LoopError) {
        handle = .allocate(capacity: 1)
        var pipes: [UnsafeMutablePointer<uv_pipe_t>] = []
        var containers = descriptors.map { Self.container($0, loop: loop, pipes: &pipes) }
        var argumentPointers = arguments.map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup($0) } + [nil]
        let file = strdup(program ?? arguments.first ?? "")
        defer { for pointer in argumentPointers + environmentPointers + [file] { free(pointer) } }
        var options = uv_process_options_t()
        options.exit_cb = { handle, status, signal in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<ChildProcess>.fromOpaque(data).takeRetainedValue().didExit(Ending(status: Int(status), signal: Int(signal)))
        }
        let code = argumentPointers.withUnsafeMutableBufferPointer { arguments in
            environmentPointers.withUnsafeMutableBufferPointer { environment in
                containers.withUnsafeMutableBufferPointer { stdio in
                    options.file = UnsafePointer(file)
                    options.args = arguments.baseAddress
                    options.env = environment.baseAddress
                    options.stdio = stdio.baseAddress
                    options.stdio_count = Int32(stdio.count)
                    return Self.spawn(loop, handle, &options, directory)
                }
            }
        }
        guard code == 0 else {
            closeAndFree(handle)
            for pipe in pipes { closeAndFree(pipe) }
            throw LoopError(code: code, operation: "spawn", subject: program ?? arguments.first ?? "")
        }
        // Held until the exit is reported.
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        pid = handle.pointee.pid
        sockets = pipes.map { Stream(loop: loop, handle: $0) }
    }

    /// Sends a signal; does nothing once the process has ended.
    public func kill(_ signal: Int32) {
        if ending == nil { uv_process_kill(handle, signal) }
    }

    private func didExit(_ ending: Ending) {
        self.ending = ending
        closeAndFree(handle)
        let exited = self.exited
        self.exited = nil
        exited?(ending)
    }

    private static func spawn(
        _ loop: EventLoop, _ handle: UnsafeMutablePointer<uv_process_t>, _ options: inout uv_process_options_t, _ directory: String?
    ) -> Int32 {
        guard let directory else { return uv_spawn(loop.handle, handle, &options) }
        return directory.withCString { path in
            options.cwd = path
            return uv_spawn(loop.handle, handle, &options)
        }
    }

    private static func container(
        _ descriptor: Descriptor, loop: EventLoop, pipes: inout [UnsafeMutablePointer<uv_pipe_t>]
    ) -> uv_stdio_container_t {
        var container = uv_stdio_container_t()
        switch descriptor {
        case .null:
            container.flags = UV_IGNORE
        case .inherit(let number):
            container.flags = UV_INHERIT_FD
            container.data.fd = number
        case .socket:
            let pipe = UnsafeMutablePointer<uv_pipe_t>.allocate(capacity: 1)
            uv_pipe_init(loop.handle, pipe, 0)
            pipes.append(pipe)
            container.flags = uv_stdio_flags(UV_CREATE_PIPE.rawValue | UV_READABLE_PIPE.rawValue | UV_WRITABLE_PIPE.rawValue)
            container.data.stream = UnsafeMutableRawPointer(pipe).assumingMemoryBound(to: uv_stream_t.self)
        }
        return container
    }
}
