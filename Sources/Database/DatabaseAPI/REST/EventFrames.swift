import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import Tree

/// The frames of event streams (spec database 2.8).
enum EventFrames {
    /// The keep-alive event.
    static let keepAlive = Array("event: keep-alive\ndata: null\n\n".utf8)
    /// The part of the event before the JSON of the stream's own node.
    static let valueStart = Array("event: put\ndata: {\"path\":\"/\",\"data\":".utf8)
    static let valueEnd = Array("}\n\n".utf8)

    /// Starts an answer that consists of frames.
    static func startAnswer(_ exchange: HTTPExchange) {
        exchange.startResponse(.ok) { fields in
            fields.field("Content-Type", "text/event-stream; charset=utf-8")
            fields.field("Cache-Control", "no-cache")
            fields.field("Access-Control-Allow-Origin", "*")
            fields.field("X-Accel-Buffering", "no")
        }
    }

    /// The last frame of a stream. `name` is `cancel` or `auth_revoked`.
    static func end(_ name: StaticString, _ text: String) -> [UInt8] {
        var frame = ByteBuffer()
        frame.append("event: ")
        frame.append(name)
        frame.append("\ndata: ")
        frame.append(jsonString: text)
        frame.append("\n\n")
        return frame.array()
    }

    /// Appends a put of `node` at `path`, relative to the stream's place.
    static func append(put node: Node, at path: Path, form: JSONForm, to frame: inout ByteBuffer) {
        frame.append("event: put\ndata: {\"path\":")
        frame.append(jsonString: path.description)
        frame.append(",\"data\":")
        node.write(to: &frame, form: form)
        frame.append("}\n\n")
    }

    /// The frames of a change for a stream of `path`; empty if the change does not affect it.
    static func frames(of change: TreeChange, for path: Path, form: JSONForm) -> [UInt8] {
        var frame = ByteBuffer()
        switch change.kind {
        case .put(let node):
            if let below = change.path.relative(to: path) {
                append(put: node, at: below, form: form, to: &frame)
            } else if let above = path.relative(to: change.path) {
                append(put: node.at(above), at: .root, form: form, to: &frame)
            }
        case .patch(let members):
            append(members, base: change.path, for: path, form: form, to: &frame)
        }
        return frame.array()
    }

    /// The frames of a change in the result of a query: one for each child, because a client that keeps a limit must handle those that leave first.
    static func frames(ofResult change: TreeChange, form: JSONForm) -> [UInt8] {
        var frames = ByteBuffer()
        switch change.kind {
        case .put(let node): append(put: node, at: .root, form: form, to: &frames)
        case .patch(let members): for member in members { append(put: member.node, at: member.path, form: form, to: &frames) }
        }
        return frames.array()
    }

    private static func append(
        _ members: [(path: Path, node: Node)], base: Path, for path: Path, form: JSONForm, to frame: inout ByteBuffer
    ) {
        var seen: [(path: Path, node: Node)] = []
        for member in members {
            let place = base.appending(member.path)
            if let above = path.relative(to: place) {
                // No other member is above or below this one, so it is all that the stream sees.
                return append(put: member.node.at(above), at: .root, form: form, to: &frame)
            }
            if let below = place.relative(to: path) { seen.append((below, member.node)) }
        }
        guard !seen.isEmpty else { return }
        let start = base.relative(to: path) ?? .root
        frame.append("event: patch\ndata: {\"path\":")
        frame.append(jsonString: start.description)
        frame.append(",\"data\":")
        var opening = UInt8(ascii: "{")
        for (place, node) in seen {
            frame.append(opening)
            opening = UInt8(ascii: ",")
            frame.append(jsonString: (place.relative(to: start) ?? place).segments.joined(separator: "/"))
            frame.append(UInt8(ascii: ":"))
            node.write(to: &frame, form: form)
        }
        frame.append("}}\n\n")
    }
}
