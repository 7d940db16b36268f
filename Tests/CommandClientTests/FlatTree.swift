import CommandClient
import HearthJSON

/// The meaning of a JSON text for a database: its leaves with their paths, and its priorities.
struct FlatTree: Equatable {
    private var leaves: [String: JSONValue] = [:]
    private var priorities: [String: JSONValue] = [:]

    init(_ value: JSONValue) { add(value, at: "") }

    init(_ pieces: [JSONPiece], priorities waiting: [JSONPiece]) {
        for piece in pieces {
            guard let value = try? JSONValue(parsing: piece.value) else { continue }
            add(value, at: Self.path(piece))
        }
        for piece in waiting { priorities[Self.path(piece)] = try? JSONValue(parsing: piece.value) }
    }

    static func == (left: FlatTree, right: FlatTree) -> Bool { left.leaves == right.leaves && left.priorities == right.priorities }

    private static func path(_ piece: JSONPiece) -> String { piece.keys.map { "/\($0)" }.joined() }

    private mutating func add(_ value: JSONValue, at path: String) {
        switch value {
        case .null: break
        case .array(let elements):
            for (index, element) in elements.enumerated() { add(element, at: "\(path)/\(index)") }
        case .object(let object):
            if object[".sv"] != nil {
                leaves[path] = value
                return
            }
            for (name, member) in object {
                switch name {
                case ".value": add(member, at: path)
                case ".priority": if !member.isNull { priorities[path] = member }
                default: add(member, at: "\(path)/\(name)")
                }
            }
        default: leaves[path] = value
        }
    }
}

/// Looks for objects that have two members of one name, in a text that is JSON.
enum NameCheck {
    static func hasNameTwice(_ text: [UInt8]) -> Bool {
        var open: [Set<String>] = []
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append([])
            case UInt8(ascii: "}"), UInt8(ascii: "]"): open.removeLast()
            case UInt8(ascii: "\""):
                let start = index
                index += 1
                while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
                guard let top = open.indices.last, let name = (try? JSONValue(parsing: Array(text[start...index])))?.string else { break }
                let rest = text[(index + 1)...].first { $0 != 32 && $0 != 9 && $0 != 10 && $0 != 13 }
                if rest == UInt8(ascii: ":"), !open[top].insert(name).inserted { return true }
            default: break
            }
            index += 1
        }
        return false
    }
}
