import EventLoop
import Glibc
import HearthBytes
import HTTP

/// A server that sends each message of a WebSocket back. It prints its port, and runs until it is killed.
@main
enum WebSocketEcho {
    static func main() throws {
        signal(SIGPIPE, SIG_IGN)
        let loop = try EventLoop()
        let echo = EchoHandler()
        let server = HTTPServer(loop: loop, handler: echo)
        let listener = try Listener.tcp(loop: loop, host: "127.0.0.1", port: 0) { server.accept($0) }
        let line = Array("\(listener.port)\n".utf8)
        write(STDOUT_FILENO, line, line.count)
        loop.run()
        listener.close()
    }
}

/// Answers every request with a WebSocket.
final class EchoHandler: HTTPHandler, WebSocketHandler {
    private let limits = {
        var limits = WebSocketLimits()
        limits.messageBytesMax = 16 * 1024 * 1024
        limits.fragmentsMax = 1024 * 1024
        limits.allowsCompression = true
        limits.compressedBytesMin = 1
        return limits
    }()

    func head(_ exchange: HTTPExchange) -> BodyPlan { .collect(limit: 0) }

    func request(_ exchange: HTTPExchange, body: Span<UInt8>) { _ = exchange.openWebSocket(limits: limits, handler: self) }

    func webSocket(_ socket: WebSocket, didReceiveText text: Span<UInt8>) { socket.send(text: text) }

    func webSocket(_ socket: WebSocket, didReceive bytes: Span<UInt8>) { socket.send(bytes) }

    func webSocket(_ socket: WebSocket, didCloseWith code: UInt16) {}
}
