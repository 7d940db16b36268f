/// The names of operations in the profiler (spec database 2.9): REST requests, operations of connected clients, and broadcasts to
/// listeners.
public enum OperationName: String, Sendable {
    case concurrentConnect = "concurrent-connect"
    case concurrentDisconnect = "concurrent-disconnect"
    case realtimeRead = "realtime-read"
    case realtimeWrite = "realtime-write"
    case realtimeTransaction = "realtime-transaction"
    case realtimeUpdate = "realtime-update"
    case listenerListen = "listener-listen"
    case listenerBroadcast = "listener-broadcast"
    case listenerUnlisten = "listener-unlisten"
    case restRead = "rest-read"
    case restWrite = "rest-write"
    case restUpdate = "rest-update"
}
