import CLinux
import Glibc

/// The crash of a worker, as the worker recorded it. Untrusted: use it only for statements about this worker.
public struct CrashReport: Sendable {
    /// One call on the stack.
    public struct Frame: Sendable, Hashable {
        /// The file of the code; empty for the worker's own program, nil if unknown.
        public var object: String?
        /// Offset in that file, in the address space of its symbols; an address if the file is unknown.
        public var offset: UInt64
    }

    /// The signal's number.
    public var signal: Int32
    /// Its `si_code`.
    public var code: Int32
    /// Whether it happened on the worker's loop, not on a thread of the plugin.
    public var isOnLoop: Bool
    /// The address of the failed access, for `SIGSEGV` and `SIGBUS`.
    public var address: UInt64
    /// The stack pointer.
    public var stack: UInt64
    /// Innermost frame first; empty if the stack could not be read.
    public var frames: [Frame]

    /// A report with these values.
    public init(signal: Int32, code: Int32 = 0, isOnLoop: Bool = true, address: UInt64 = 0, stack: UInt64 = 0, frames: [Frame] = []) {
        self.signal = signal
        self.code = code
        self.isOnLoop = isOnLoop
        self.address = address
        self.stack = stack
        self.frames = frames
    }

    /// Reads a `linux_crash`; nil if nothing was written.
    init?(_ memory: UnsafeRawBufferPointer) {
        func number<T: BitwiseCopyable>(_ member: PartialKeyPath<linux_crash>, _ type: T.Type) -> T? {
            MemoryLayout<linux_crash>.offset(of: member).map { memory.loadUnaligned(fromByteOffset: $0, as: T.self) }
        }
        guard let state = number(\.state, UInt32.self), state > 0, let signal = number(\.signal, Int32.self), (1...64).contains(signal),
            let frames = MemoryLayout<linux_crash>.offset(of: \.frames), let objects = MemoryLayout<linux_crash>.offset(of: \.objects)
        else { return nil }
        self.signal = signal
        code = number(\.code, Int32.self) ?? 0
        isOnLoop = number(\.is_first_thread, UInt32.self) == 1
        address = number(\.address, UInt64.self) ?? 0
        stack = number(\.stack, UInt64.self) ?? 0
        let count = min(Int(number(\.frame_count, UInt32.self) ?? 0), Int(LINUX_CRASH_FRAMES_MAX))
        self.frames = (0..<count).map { index in
            let frame = memory.loadUnaligned(fromByteOffset: frames + index * MemoryLayout<linux_crash_frame>.stride, as: linux_crash_frame.self)
            guard frame.object < UInt64(LINUX_CRASH_OBJECTS_MAX) else { return Frame(object: nil, offset: frame.offset) }
            let size = Int(LINUX_CRASH_PATH_MAX)
            let start = objects + Int(frame.object) * size
            let path = memory[start..<start + size].prefix { $0 != 0 }
            return Frame(object: String(decoding: path, as: UTF8.self), offset: frame.offset)
        }
    }
}
