import EventLoop
import HearthBytes
import WorkerProtocol

/// Receives the frames and events of a ``FrameChannel``.
protocol FrameChannelOwner: AnyObject {
    func channel(_ channel: FrameChannel, received header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>)
    /// The charge for bytes that are buffered on the channel, in either direction.
    func memory(for channel: FrameChannel) -> MemoryCharge
    /// Whether there is memory for further data from the worker.
    func channelMayGoOn(_ channel: FrameChannel) -> Bool
    /// Called when the worker has not completed a frame within 30 s.
    func channelLeftFrameUnfinished(_ channel: FrameChannel)
    /// Called when the worker has sent malformed data.
    func channelBroke(_ channel: FrameChannel)
    /// Called when the worker has closed its end, after all its frames were delivered. Nothing that is sent reaches it any more.
    func channelDidEnd(_ channel: FrameChannel)
    /// Called last, when the channel is closed.
    func channelDidClose(_ channel: FrameChannel)
}

/// A socket to a worker, which carries frames in both directions. Belongs to one loop of the host.
///
/// Reading pauses while there is no memory for further data from the worker.
final class FrameChannel {
    /// The owner of the channel, so frames need not count references to it.
    private unowned(unsafe) var owner: (any FrameChannelOwner)?
    private let loop: EventLoop
    private let stream: Stream
    private let record: LaneRecord
    private var reader = FrameReader()
    /// The charge for a large frame that is incomplete.
    private var gathering = MemoryCharge()
    /// Polls for free memory while reading is paused.
    private var roomTimer: Timer?
    /// Limits the time for completing a large frame.
    private var frameTimer: Timer?
    /// Whether the process has ended. The rest of its data is read regardless of memory.
    private var hasPeerEnded = false
    private(set) var isClosed = false

    /// - Parameter record: counts the frames that are sent.
    init(_ stream: Stream, loop: EventLoop, record: LaneRecord) {
        self.stream = stream
        self.loop = loop
        self.record = record
    }

    /// Starts reading. `owner` must exist until its `channelDidClose` is called.
    func begin(for owner: any FrameChannelOwner) {
        self.owner = owner
        stream.handler = self
        stream.startReading()
    }

    /// The buffer for frames to the worker; call ``frameIsWhole()`` after each frame.
    var outbox: ByteBuffer {
        _read { yield stream.outbox }
        _modify { yield &stream.outbox }
    }

    /// Schedules the frame that was appended to ``outbox`` for sending at the end of the turn. Call it once for each frame.
    ///
    /// - Returns: the number of the frame.
    @inline(__always) @discardableResult
    func frameIsWhole() -> UInt64 {
        stream.queueFlush()
        return record.countFrame()
    }

    /// Notes that the process has ended, and reads the rest of its data.
    func peerDidEnd() {
        hasPeerEnded = true
        goOnIfRoom()
    }

    /// Closes the socket, even if another process still holds the other end open.
    func close() { stream.close() }

    // MARK: Back-pressure

    /// The size above which the received part of an incomplete frame is charged to the memory budget.
    private static let smallFrameBytes = 64 << 10
    /// The time limit for a frame while reading is not paused: an incomplete frame holds memory that other plugins may need.
    private static let frameMilliseconds: UInt64 = 30_000
    private static let roomMilliseconds: UInt64 = 5

    /// Whether there is memory for the incomplete frame, or for the next one.
    private func findsRoom() -> Bool {
        guard reader.unfinishedFrameBytes > Self.smallFrameBytes else { return owner?.channelMayGoOn(self) ?? true }
        if !gathering.isBound { gathering = owner?.memory(for: self) ?? MemoryCharge() }
        // Only a frame that began while there was room may exceed the limits; otherwise large frames without a pause would never be held back.
        guard gathering.bytes > 0 || owner?.channelMayGoOn(self) ?? true else { return false }
        return gathering.grow(to: reader.pendingBytes) == .granted
    }

    /// Starts the time limit for a large incomplete frame, when it begins or when reading resumes.
    private func watchFrame() {
        guard !hasPeerEnded, roomTimer == nil, reader.unfinishedFrameBytes > Self.smallFrameBytes else { return frameTimer = nil }
        guard frameTimer == nil else { return }
        frameTimer = Timer(loop: loop) { [unowned self] in
            frameTimer = nil
            owner?.channelLeftFrameUnfinished(self)
        }
        frameTimer?.start(afterMilliseconds: Self.frameMilliseconds)
    }

    /// Pauses reading until there is memory again.
    private func holdBackIfFull() {
        guard !hasPeerEnded, roomTimer == nil, !isClosed, !findsRoom() else { return }
        stream.pauseReading()
        let timer = Timer(loop: loop) { [unowned self] in goOnIfRoom() }
        timer.start(afterMilliseconds: Self.roomMilliseconds, repeatMilliseconds: Self.roomMilliseconds)
        roomTimer = timer
    }

    /// Resumes reading if it is paused and there is memory again.
    private func goOnIfRoom() {
        guard roomTimer != nil, hasPeerEnded || findsRoom() else { return }
        roomTimer = nil
        stream.resumeReading()
        watchFrame()
    }
}

extension FrameChannel: StreamHandler {
    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        do throws(FrameError) {
            try reader.read(bytes) {
                if gathering.bytes != 0 { gathering.set(to: 0) }
                owner?.channel(self, received: $0, head: $1, body: $2)
            }
        } catch {
            owner?.channelBroke(self)
            return
        }
        holdBackIfFull()
        watchFrame()
    }

    func streamDidEnd(_ stream: Stream) {
        owner?.channelDidEnd(self)
        stream.close()
    }

    func stream(_ stream: Stream, didFail error: LoopError) {}

    func streamDidDrain(_ stream: Stream) {}

    func memory(for stream: Stream) -> MemoryCharge { owner?.memory(for: self) ?? MemoryCharge() }

    func streamDidClose(_ stream: Stream) {
        isClosed = true
        roomTimer = nil
        frameTimer = nil
        gathering.set(to: 0)
        owner?.channelDidClose(self)
    }
}
