import EventLoop

/// The state of a device.
public enum DeviceState: String, Sendable {
    /// The application is visible.
    case foreground
    /// The application runs in the background.
    case background
    /// The device is dozing: only messages with high priority wake it up.
    case idle
}

/// A frame for a connected device.
struct DeviceFrame: Sendable {
    enum Kind: String, Sendable {
        case ready
        case message
        case deletedMessages = "deleted_messages"
    }

    var kind: Kind
    /// The id by which the device acknowledges it; empty if it need not be acknowledged.
    var id = ""
    /// The frame as JSON.
    var json: [UInt8]
}

/// An event for a connection, from the store.
enum LinkNews: Sendable {
    case frames([DeviceFrame])
    /// The connection ends, and nothing more will be sent.
    case ended(LinkEnd)
}

/// The reason why the server ends a connection.
enum LinkEnd: Sendable {
    case unknownToken
    case replaced
    case unregistered
    case tooMany
    case stopping
    case failed

    /// The close code of WebSocket (spec messaging 6.8).
    var closeCode: UInt16 {
        switch self {
        case .unknownToken, .unregistered: 4401
        case .replaced: 4409
        case .tooMany, .failed: 1013
        case .stopping: 1001
        }
    }

    var reason: String {
        switch self {
        case .unknownToken: "unknown token"
        case .replaced: "replaced by a newer connection of the same token"
        case .unregistered: "the registration has ended"
        case .tooMany: "too many devices are connected; try again later"
        case .stopping: "the host is stopping; connect again"
        case .failed: "the store cannot be used at this moment; try again"
        }
    }
}

/// A connected device, with the messages that were sent to it. Belongs to the store's loop.
final class DeviceLink {
    let id: UInt64
    let device: Device
    let loop: EventLoop
    let handler: LoopBound<(LinkNews) -> Void>
    var state: DeviceState
    /// The sent messages that were not acknowledged.
    var unacknowledged: Set<Int64> = []
    /// The frames to send when the current transaction is durable.
    var frames: [DeviceFrame] = []

    init(id: UInt64, device: Device, loop: EventLoop, handler: LoopBound<(LinkNews) -> Void>, state: DeviceState) {
        self.id = id
        self.device = device
        self.loop = loop
        self.handler = handler
        self.state = state
    }

    /// Whether the device accepts a message of this priority in its state.
    func takes(isHighPriority: Bool) -> Bool { state != .idle || isHighPriority }

    func tell(_ news: LinkNews) {
        let handler = handler
        loop.post { handler.value(news) }
    }
}
