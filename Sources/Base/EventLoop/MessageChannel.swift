import CLinux
import Glibc

/// Exchanges messages with another process on this machine. Each message arrives whole or not at all and can carry open descriptors.
///
/// Belongs to its loop. Closes when it is released.
public final class MessageChannel {
    /// A message.
    public struct Message {
        /// The content.
        public var bytes: [UInt8]
        /// The descriptors that came with it. The receiver closes them.
        public var descriptors: [Int32]

        /// A message, as received.
        public init(_ bytes: [UInt8], descriptors: [Int32] = []) {
            self.bytes = bytes
            self.descriptors = descriptors
        }
    }

    /// The longest message that can be sent.
    public static let messageBytesMax = 192 * 1024

    private let descriptor: Int32
    private var poll: Poll?
    /// Messages that the kernel has not taken yet; the descriptors are duplicates.
    private var waiting: [Message] = []
    private var isClosed = false
    private var retry: Timer?
    private var room = [UInt8](repeating: 0, count: MessageChannel.messageBytesMax)
    /// Gets each message; nil for the end of the channel.
    public var received: ((Message?) -> Void)?

    /// Takes over one end of a socket pair.
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

    /// Closes the channel. The peer notices after it has read what was sent.
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

    /// Sends a message. The caller keeps the descriptors and may close them when this returns.
    public func send(_ bytes: [UInt8], descriptors: [Int32] = []) {
        guard !isClosed else { return }
        if waiting.isEmpty, tries(bytes, descriptors) { return }
        waiting.append(Message(bytes, descriptors: descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }))
        watch()
    }

    /// Whether all messages have been sent.
    public var isFlushed: Bool { waiting.isEmpty }

    /// - Returns: false if the message has to wait.
    private func tries(_ bytes: [UInt8], _ descriptors: [Int32]) -> Bool {
        let sent = linux_send_descriptors(descriptor, bytes, bytes.count, descriptors, descriptors.count)
        switch Int32(sent) {
        case -EAGAIN, -ENOBUFS, -ENOMEM, -EINTR: return false
        case -ETOOMANYREFS:
            // Too many descriptors of this user are in flight; there is no notification when the peer takes some, so retry soon.
            retry?.start(afterMilliseconds: 2)
            return false
        // Any other error also ends the channel, which is reported there.
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
        // A watch that fails is reported as the end of the channel.
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
