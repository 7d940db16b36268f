import EventLoop

/// How attentive a device is.
public enum DeviceState: String, Sendable {
    /// The user sees the application.
    case foreground
    /// The application runs unseen.
    case background
    /// Dozing: only messages of high priority wake it.
    case idle
}

/// Something for a connected device.
struct DeviceFrame: Sendable {
    enum Kind: String, Sendable {
        case ready
        case message
        case deletedMessages = "deleted_messages"
    }

    var kind: Kind
    /// What the device acknowledges it by; empty where it need not.
    var id = ""
    /// The frame as JSON.
    var json: [UInt8]
}

/// What a connection hears from the store.
enum LinkNews: Sendable {
    case frames([DeviceFrame])
    /// Nothing will come any more.
    case ended(LinkEnd)
}

/// Why a connection ends that the device did not end itself.
enum LinkEnd: Sendable {
    case unknownToken
    case replaced
    case unregistered
    case tooMany
    case stopping
    case failed

    /// As WebSocket says it (spec messaging 6.8).
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

/// A connected device, as the store knows it: which messages are on their way to it. Belongs to the store's loop.
final class DeviceLink {
    let id: UInt64
    let device: Device
    let loop: EventLoop
    let handler: LoopBound<(LinkNews) -> Void>
    var state: DeviceState
    /// What it was sent and has not acknowledged.
    var unacknowledged: Set<Int64> = []
    /// What the next write brings, once what caused it is durable.
    var frames: [DeviceFrame] = []

    init(id: UInt64, device: Device, loop: EventLoop, handler: LoopBound<(LinkNews) -> Void>, state: DeviceState) {
        self.id = id
        self.device = device
        self.loop = loop
        self.handler = handler
        self.state = state
    }

    /// Whether a message of this priority may go now.
    func takes(isHighPriority: Bool) -> Bool { state != .idle || isHighPriority }

    func tell(_ news: LinkNews) {
        let handler = handler
        loop.post { handler.value(news) }
    }
}
