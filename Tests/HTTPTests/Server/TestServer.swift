import HearthBytes
import EventLoop
import Glibc
import HTTP

/// A server on a separate thread, with the routes of `TestRoutes`.
final class TestServer: @unchecked Sendable {
    // Unchecked: server, listener and routes are touched on the loop's thread only; the rest does not change.

    let port: Int
    let log = EventLog()

    private let thread: LoopThread
    private var server: HTTPServer?
    private var listener: Listener?
    private var routes: TestRoutes?
    /// The context for new connections; touched on the loop's thread.
    private let tls: Box<TLSContext?>
    private let certificate: (certificate: String, key: String)?

    init(limits: HTTPLimits = HTTPLimits(), certificate: (certificate: String, key: String)? = nil) throws {
        // The program does the same: a write to a disconnected client is an ordinary error.
        signal(SIGPIPE, SIG_IGN)
        thread = try LoopThread()
        let log = self.log
        let (started, port) = (EventLog(), Box(0))
        let made = Box<(HTTPServer, Listener, TestRoutes)?>(nil)
        let tls = Box(certificate.flatMap { try? TLSContext(certificateFile: $0.certificate, keyFile: $0.key, offersHTTP2: true) })
        self.tls = tls
        self.certificate = certificate
        let loop = thread.loop
        loop.post {
            let routes = TestRoutes(loop: loop, log: log)
            let server = HTTPServer(loop: loop, limits: limits, handler: routes)
            server.offerHTTP2()
            if let listener = try? Listener.tcp(
                loop: loop, host: "127.0.0.1", port: 0, accept: { server.accept($0, tls: tls.value) })
            {
                port.value = listener.port
                made.value = (server, listener, routes)
            }
            started.add("started")
        }
        _ = started.wait(for: "started")
        self.port = port.value
        (server, listener, routes) = made.value ?? (nil, nil, nil)
    }

    /// Runs `work` on the loop and waits for it.
    func onLoop<T: Sendable>(_ work: @escaping @Sendable (HTTPServer, TestRoutes) -> T) -> T? {
        let done = EventLog()
        let result = Box<T?>(nil)
        thread.loop.post { [self] in
            if let server, let routes { result.value = work(server, routes) }
            done.add("done")
        }
        _ = done.wait(for: "done")
        return result.value
    }

    /// Starts to drain, and waits until no connection is left.
    func drains(withinMilliseconds: UInt64 = 60_000) -> Bool {
        let log = self.log
        _ = onLoop { server, _ in server.drain(withinMilliseconds: withinMilliseconds) { log.add("drained") } }
        return log.wait(for: "drained")
    }

    /// Reads certificate and key again, for connections from now on.
    ///
    /// - Returns: what was wrong with them.
    func reloadTLS() -> TLSError.Kind? {
        guard let certificate else { return nil }
        do throws(TLSError) {
            let context = try TLSContext(certificateFile: certificate.certificate, keyFile: certificate.key, offersHTTP2: true)
            _ = onLoop { [tls] _, _ in tls.value = context }
            return nil
        } catch { return error.kind }
    }

    func connect() -> RawClient { RawClient(port: port) }

    /// Sends `request` on a new connection and reads to the end.
    func exchange(_ request: String) -> String {
        let client = connect()
        client.send(request)
        return client.readAllText()
    }

    deinit {
        let done = EventLog()
        let (listener, server, routes) = (Box(listener), Box(server), Box(routes))
        (self.listener, self.server, self.routes) = (nil, nil, nil)
        thread.loop.post {
            listener.value?.close()
            listener.value = nil
            routes.value?.forget()
            routes.value = nil
            server.value?.drain(withinMilliseconds: 0) { done.add("done") }
            server.value = nil
        }
        _ = done.wait(for: "done")
        thread.join()
    }
}

/// Carries a value that is not `Sendable` to the loop's thread and back.
final class Box<T>: @unchecked Sendable {
    // Unchecked: the user waits until the other thread has finished with it.
    var value: T
    init(_ value: T) { self.value = value }
}
