import EventLoop
import HTTP
import RealtimeDatabase
import Tree

/// An open event stream.
protocol OpenStream: AnyObject {
    /// Sends a keep-alive event.
    func beat()
    /// Ends the stream. The client reconnects.
    func close()
}

/// The event streams of one loop.
final class EventStreams {
    let loop: EventLoop
    private let settings: DatabaseFrontEndSettings
    private let countMax: Int
    /// Counts the streams of a namespace on all loops.
    private let seats: Seats<String>
    private var open: [ObjectIdentifier: Entry] = [:]
    private var isStopped = false
    private lazy var heart = Timer(loop: loop) { [unowned self] in
        for entry in open.values { entry.stream.beat() }
    }

    private struct Entry {
        var stream: any OpenStream
        var seat: Seats<String>.Seat
    }

    init(loop: EventLoop, settings: DatabaseFrontEndSettings, countMax: Int, seats: Seats<String>) {
        self.seats = seats
        self.loop = loop
        self.settings = settings
        self.countMax = countMax
    }

    /// Admits a stream, if the limits allow it.
    func admit(_ stream: any OpenStream, of namespace: String) throws(RESTError) {
        guard !isStopped else { throw RESTError(DatabaseError.stopping) }
        guard open.count < countMax else {
            throw RESTError(.serviceUnavailable, "\(countMax) event streams are open, which is the limit")
        }
        guard let seat = seats.take(namespace) else {
            throw RESTError(.serviceUnavailable, "\(seats.countMax) event streams of this database are open, which is the limit")
        }
        if open.isEmpty { heart.start(afterMilliseconds: settings.keepAliveMilliseconds, repeatMilliseconds: settings.keepAliveMilliseconds) }
        open[ObjectIdentifier(stream)] = Entry(stream: stream, seat: seat)
    }

    /// Removes a stream that has ended.
    func dismiss(_ stream: any OpenStream) {
        open[ObjectIdentifier(stream)] = nil
        if open.isEmpty { heart.stop() }
    }

    /// Ends all streams, and admits no more.
    func stop() {
        isStopped = true
        endAll()
    }

    /// Ends all streams. Their clients reconnect.
    func endAll() {
        for entry in open.values { entry.stream.close() }
    }
}
