import EventLoop
import Glibc
import HearthBytes

/// Compression of messages for all WebSockets of one loop. Confined to its loop's thread.
///
/// Every message is compressed on its own (`server_no_context_takeover` and `client_no_context_takeover`), so that no state belongs to a
/// connection: an inflater has 64 KiB and a deflater 256 KiB, which is too much for each of many idle connections.
final class SharedCompression {
    private let loop: EventLoop
    /// An inflater that no message uses. Each message that arrives in parts has one until it is complete.
    private var freeInflater: Inflater?
    /// Deflaters by the size of their window; nearly all clients use the largest.
    private var deflaters: [Deflater?] = Array(repeating: nil, count: Deflater.windowBits.count)
    private var input = ByteBuffer()
    private var output = ByteBuffer()
    /// The window for which `output` was made; 0 if there is none.
    private var outputBits = 0
    /// The bytes that were compressed in this turn of the loop.
    private var turnBytes = 0
    /// The number of messages that were compressed.
    private(set) var compressions = 0
    /// Room for the unmasked bytes of a compressed frame.
    let room: UnsafeMutableBufferPointer<UInt8>

    /// The most bytes to compress in one turn of the loop, about two milliseconds. Further messages are sent as they are, so that a client that
    /// reads a large part of a database does not make all others wait.
    static let turnBytesMax = 256 * 1024
    /// The largest message that is kept in case it is sent again.
    private static let keptBytesMax = 64 * 1024

    init(loop: EventLoop) {
        self.loop = loop
        room = .allocate(capacity: 4096)
    }

    deinit { room.deallocate() }

    // MARK: Receiving

    /// An inflater for one message.
    func takeInflater() -> Inflater {
        guard let inflater = freeInflater else { return Inflater(.message) }
        freeInflater = nil
        return inflater
    }

    /// Takes an inflater back for the next message.
    func giveBack(_ inflater: Inflater) {
        inflater.reset()
        freeInflater = inflater
    }

    // MARK: Sending

    /// Compresses a message, and passes it to `body`. A message that is sent to many clients one after the other is compressed once.
    ///
    /// - Returns: false if the message is to be sent as it is.
    func compress(_ message: Span<UInt8>, windowBits: Int, _ body: (Span<UInt8>) -> Void) -> Bool {
        guard message.withUnsafeBytes({ isKept($0, windowBits) || make($0, windowBits) }), output.count < message.count else { return false }
        output.withUnsafeBytes { output in
            output.withMemoryRebound(to: UInt8.self) { body(Span(_unsafeElements: $0)) }
        }
        return true
    }

    private func isKept(_ message: UnsafeRawBufferPointer, _ windowBits: Int) -> Bool {
        guard outputBits == windowBits, input.count == message.count else { return false }
        return input.withUnsafeBytes { kept in
            guard let kept = kept.baseAddress, let message = message.baseAddress else { return false }
            return memcmp(kept, message, input.count) == 0
        }
    }

    private func make(_ message: UnsafeRawBufferPointer, _ windowBits: Int) -> Bool {
        guard message.count <= Self.turnBytesMax - turnBytes else { return false }
        if turnBytes == 0 { loop.endOfTurn { [weak self] in self?.turnBytes = 0 } }
        turnBytes += message.count
        let index = windowBits - Deflater.windowBits.lowerBound
        if deflaters[index] == nil { deflaters[index] = Deflater.make(windowBits: windowBits) }
        guard let deflater = deflaters[index] else { return false }
        input.clear(keepingAtMost: Self.keptBytesMax)
        output.clear(keepingAtMost: Self.keptBytesMax)
        outputBits = 0
        guard deflater.compress(message, into: &output) else { return false }
        compressions += 1
        guard message.count <= Self.keptBytesMax else { return true }
        input.append(message)
        outputBits = windowBits
        return true
    }
}
