import HearthBytes
import HearthJSON
import RealtimeDatabase
import Tree

/// The messages to clients (spec database 3.3 to 3.5).
enum LivePush {
    /// The first message of a connection.
    static func hello(host: Span<UInt8>, session: String, now: Int64) -> [UInt8] {
        var message = ByteBuffer(capacity: 160)
        message.append("{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{\"ts\":\(now),\"v\":\"5\",\"h\":")
        message.append(jsonString: host)
        message.append(",\"s\":")
        message.append(jsonString: session)
        message.append("}}}")
        return message.array()
    }

    static let pong = control("o")

    /// The last message by polling, when the client has changed to a WebSocket.
    static let endOfTransmission = control("n")

    /// A control message without content: `a` or `n`.
    static func control(_ type: StaticString) -> [UInt8] { Array("{\"t\":\"c\",\"d\":{\"t\":\"\(type)\",\"d\":{}}}".utf8) }

    /// A control message with a text: `s`, `r` or `e`.
    static func control(_ type: StaticString, _ text: String) -> [UInt8] {
        var message = ByteBuffer()
        message.append("{\"t\":\"c\",\"d\":{\"t\":\"")
        message.append(type)
        message.append("\",\"d\":")
        message.append(jsonString: text)
        message.append("}}")
        return message.array()
    }

    // MARK: Answers

    /// The answer to a request, with a payload in JSON.
    static func answer(_ number: Int, _ status: StaticString, payload: Span<UInt8>) -> [UInt8] {
        var message = ByteBuffer(capacity: payload.count + 64)
        message.append("{\"t\":\"d\",\"d\":{\"r\":")
        message.append(decimal: number)
        message.append(",\"b\":{\"s\":\"")
        message.append(status)
        message.append("\",\"d\":")
        message.append(payload)
        message.append("}}}")
        return message.array()
    }

    static func answer(_ number: Int, _ refusal: LiveRefusal) -> [UInt8] {
        var text = ByteBuffer()
        text.append(jsonString: refusal.message)
        return answer(number, refusal.status, payload: text.bytes)
    }

    // MARK: Pushes

    /// A push with a status and a text: `ac` or `apc`.
    static func revocation(_ action: StaticString, _ refusal: LiveRefusal) -> [UInt8] {
        var message = ByteBuffer()
        message.append("{\"t\":\"d\",\"d\":{\"a\":\"")
        message.append(action)
        message.append("\",\"b\":{\"s\":\"")
        message.append(refusal.status)
        message.append("\",\"d\":")
        message.append(jsonString: refusal.message)
        message.append("}}}")
        return message.array()
    }

    /// The end of a listen. `query` is the client's own text; nil for a listen of the whole node.
    static func cancel(_ path: Path, query: [UInt8]?) -> [UInt8] {
        var message = start("c", path)
        if let query {
            message.append(",\"q\":[")
            message.append(query)
            message.append("]")
        }
        message.append("}}}")
        return message.array()
    }

    /// A new value of a place, as JSON in export form.
    static func value(_ path: Path, _ json: Span<UInt8>, tag: Int?) -> [UInt8] {
        var message = start("d", path, room: json.count)
        message.append(",\"d\":")
        message.append(json)
        end(&message, tag)
        return message.array()
    }

    /// The answer to a read with the ranges that the client has: the parts that it lacks, or the whole value, which is never a list.
    static func valueOrParts(_ path: Path, _ json: Span<UInt8>) -> [UInt8] {
        guard json.count > 0, json[0] == UInt8(ascii: "[") else { return value(path, json, tag: nil) }
        var message = start("rm", path, room: json.count)
        message.append(",\"d\":")
        message.append(json)
        end(&message, nil)
        return message.array()
    }

    /// A new value of a place.
    static func value(_ path: Path, _ node: Node, tag: Int?) -> [UInt8] {
        var message = start("d", path)
        message.append(",\"d\":")
        node.write(to: &message, form: .export)
        end(&message, tag)
        return message.array()
    }

    /// New values of places below a place.
    static func merge(_ path: Path, _ members: [(name: String, node: Node)], tag: Int?) -> [UInt8] {
        var message = start("m", path)
        message.append(",\"d\":")
        var opening = UInt8(ascii: "{")
        for member in members {
            message.append(opening)
            opening = UInt8(ascii: ",")
            message.append(jsonString: member.name)
            message.append(UInt8(ascii: ":"))
            member.node.write(to: &message, form: .export)
        }
        message.append(UInt8(ascii: "}"))
        end(&message, tag)
        return message.array()
    }

    private static func start(_ action: StaticString, _ path: Path, room: Int = 0) -> ByteBuffer {
        var message = ByteBuffer(capacity: room + 128)
        message.append("{\"t\":\"d\",\"d\":{\"a\":\"")
        message.append(action)
        message.append("\",\"b\":{\"p\":")
        message.append(jsonString: path.segments.joined(separator: "/"))
        return message
    }

    private static func end(_ message: inout ByteBuffer, _ tag: Int?) {
        if let tag {
            message.append(",\"t\":")
            message.append(decimal: tag)
        }
        message.append("}}}")
    }

    // MARK: Changes

    /// The push of a change in the result of a query; empty if it changes nothing. One message, so that a client never sees a part of it.
    static func push(ofResult change: TreeChange) -> [UInt8] {
        switch change.kind {
        case .put(let node): return value(change.path, node, tag: nil)
        case .patch(let members):
            guard members.count != 1 else { return value(change.path.appending(members[0].path), members[0].node, tag: nil) }
            if members.isEmpty { return [] }
            return merge(change.path, members.map { ($0.path.segments.joined(separator: "/"), $0.node) }, tag: nil)
        }
    }

    /// A push without a tag, with one.
    static func tagged(_ message: [UInt8], _ tag: Int) -> [UInt8] {
        guard !message.isEmpty else { return [] }
        var tagged = ByteBuffer(capacity: message.count + 16)
        tagged.append(message.span.extracting(droppingLast: 3))
        end(&tagged, tag)
        return tagged.array()
    }

    /// The push of a change for listens of the whole node at `path`; empty if the change does not affect it.
    static func push(of change: TreeChange, for path: Path) -> [UInt8] {
        switch change.kind {
        case .put(let node):
            if path.contains(change.path) { return value(change.path, node, tag: nil) }
            guard let above = path.relative(to: change.path) else { return [] }
            return value(path, node.at(above), tag: nil)
        case .patch(let members): return push(of: members, base: change.path, for: path)
        }
    }

    private static func push(of members: [(path: Path, node: Node)], base: Path, for path: Path) -> [UInt8] {
        var seen: [(path: Path, node: Node)] = []
        for member in members {
            let place = base.appending(member.path)
            // No other member is above or below this one, so it is all that the listen sees.
            if let above = path.relative(to: place) { return value(path, member.node.at(above), tag: nil) }
            if path.contains(place) { seen.append((place, member.node)) }
        }
        guard !seen.isEmpty else { return [] }
        if seen.count == 1 { return value(seen[0].path, seen[0].node, tag: nil) }
        let start = path.contains(base) ? base : path
        return merge(start, seen.map { (($0.path.relative(to: start) ?? $0.path).segments.joined(separator: "/"), $0.node) }, tag: nil)
    }
}
