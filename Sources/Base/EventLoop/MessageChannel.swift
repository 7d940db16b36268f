import CLinux
import Glibc

/// Messages to and from another process on this machine, each whole or not at all, with open descriptors where they carry some.
///
/// Belongs to its loop. Ends with its owner.
public final class MessageChannel {
    /// A message.
    public struct Message {
        /// What it says.
        public var bytes: [UInt8]
        /// What came with it; the receiver's to close.
        public var descriptors: [Int32]

        /// A message as the other end gets it.
        public init(_ bytes: [UInt8], descriptors: [Int32] = []) {
            self.bytes = bytes
            self.descriptors = descriptors
        }
    }

    /// A longer message cannot be sent.
    public static let messageBytesMax = 192 * 1024

    private let descriptor: Int32
    private var poll: Poll?
    /// What the kernel has not taken yet; the descriptors are copies.
    private var waiting: [Message] = []
    private var isClosed = false
    private var retry: Timer?
    private var room = [UInt8](repeating: 0, count: MessageChannel.messageBytesMax)
    /// Gets each message; nil for the end: the peer has gone.
    public var received: ((Message?) -> Void)?

    /// Takes over one end of a pair of sockets.
    ///
    /// - Throws: `LoopError` for a descriptor that cannot be watched.
    public init(loop: EventLoop, adopting descriptor: Int32) throws(LoopError) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        retry = Timer(loop: loop) { [unowned self] in flush() }
        poll = try Poll(loop: loop, descriptor: descriptor) { [unowned self] result in didBecomeReady(result) }
        try poll?.watch(.readable)
    }

    /// Both ends of a new channel.
    ///
    /// - Throws: `LoopError` when there are no descriptors left.
    public static func pair() throws(LoopError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        let code = linux_message_pair(&ends)
        if code < 0 { throw LoopError(code: code, operation: "channel") }
        return (ends[0], ends[1])
    }

    deinit { close() }

    /// Ends it; the peer hears that once it has read what was sent.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        received = nil
        retry = nil
        poll?.close()
        poll = nil
        for message in waiting { Self.closeAll(message.descriptors) }
        waiting = []
        Glibc.close(descriptor)
    }

    /// Sends a message. The descriptors stay the caller's, who may close them when this returns.
    public func send(_ bytes: [UInt8], descriptors: [Int32] = []) {
        guard !isClosed else { return }
        if waiting.isEmpty, tries(bytes, descriptors) { return }
        waiting.append(Message(bytes, descriptors: descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }))
        watch()
    }

    /// Whether everything has left.
    public var isFlushed: Bool { waiting.isEmpty }

    /// - Returns: false where it has to wait.
    private func tries(_ bytes: [UInt8], _ descriptors: [Int32]) -> Bool {
        let sent = linux_send_descriptors(descriptor, bytes, bytes.count, descriptors, descriptors.count)
        switch Int32(sent) {
        case -EAGAIN, -ENOBUFS, -ENOMEM, -EINTR: return false
        case -ETOOMANYREFS:
            // The user has too many descriptors on their way; that the peer takes some is not told.
            retry?.start(afterMilliseconds: 2)
            return false
        // Whatever else is wrong, the end of the channel tells it.
        default: return true
        }
    }

    private func flush() {
        while let message = waiting.first {
            guard tries(message.bytes, message.descriptors) else { break }
            Self.closeAll(message.descriptors)
            waiting.removeFirst()
        }
        watch()
    }

    private func watch() {
        // A watch that fails is told as the end.
        do throws(LoopError) { try poll?.watch(waiting.isEmpty || retry?.isRunning == true ? .readable : [.readable, .writable]) } catch { end() }
    }

    private func didBecomeReady(_ result: Result<Poll.Events, LoopError>) {
        guard case .success(let events) = result else { return end() }
        if events.contains(.writable) { flush() }
        if events.contains(.readable) { receive() }
    }

    private func receive() {
        var descriptors = [Int32](repeating: -1, count: Int(LINUX_DESCRIPTORS_MAX))
        for _ in 0..<64 where !isClosed {
            var count = 0
            let received = linux_receive_descriptors(descriptor, &room, room.count, &descriptors, &count)
            if received == -Int(EAGAIN) || received == -Int(EINTR) { return }
            guard received > 0 else { return end() }
            self.received?(Message(Array(room[..<received]), descriptors: Array(descriptors[..<count])))
        }
    }

    private func end() {
        let received = received
        close()
        received?(nil)
    }

    /// Closes descriptors that came with a message.
    public static func closeAll(_ descriptors: [Int32]) {
        for descriptor in descriptors { Glibc.close(descriptor) }
    }
}
