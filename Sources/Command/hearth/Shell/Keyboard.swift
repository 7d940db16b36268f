import Glibc

/// A key press.
enum Key: Equatable {
    case text(String)
    /// Text that the terminal marks as pasted.
    case paste(String)
    case enter, backspace, delete, tab, escape
    case left, right, up, down, home, end, wordLeft, wordRight
    /// A letter with the control key, in lower case.
    case control(Character)
    /// The end of the input, or an error.
    case ended
}

/// Converts the bytes of a terminal into keys.
struct Keyboard {
    private var bytes: [UInt8] = []

    /// Waits for the next key.
    mutating func next() -> Key {
        guard let first = byte() else { return .ended }
        switch first {
        case 0x0D, 0x0A: return .enter
        case 0x7F, 0x08: return .backspace
        case 0x09: return .tab
        case 0x1B: return escape()
        case 0x01...0x1A: return .control(Character(Unicode.Scalar(first + 0x60)))
        case 0x00..<0x20: return .text("")
        default: return .text(character(first))
        }
    }

    /// Whether more input was read together with the last key.
    var hasMore: Bool { !bytes.isEmpty }

    private mutating func byte() -> UInt8? {
        if bytes.isEmpty {
            var room = [UInt8](repeating: 0, count: 4096)
            var count = 0
            repeat { count = read(STDIN_FILENO, &room, room.count) } while count < 0 && errno == EINTR
            guard count > 0 else { return nil }
            bytes = Array(room[..<count])
        }
        return bytes.removeFirst()
    }

    /// A character of UTF-8.
    private mutating func character(_ first: UInt8) -> String {
        var sequence = [first]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        while sequence.count < length, let next = byte() { sequence.append(next) }
        return String(decoding: sequence, as: UTF8.self)
    }

    /// An escape sequence, which terminals send in one piece.
    private mutating func escape() -> Key {
        guard hasMore, let kind = byte() else { return .escape }
        switch kind {
        case UInt8(ascii: "b"): return .wordLeft
        case UInt8(ascii: "f"): return .wordRight
        case UInt8(ascii: "O"): return Self.key(final: byte() ?? 0, parameters: "")
        case UInt8(ascii: "["):
            var parameters = ""
            while let next = byte() {
                guard next >= 0x40 else {
                    parameters.unicodeScalars.append(Unicode.Scalar(next))
                    continue
                }
                return next == UInt8(ascii: "~") && parameters == "200" ? .paste(pasted()) : Self.key(final: next, parameters: parameters)
            }
            return .ended
        default: return .text("")
        }
    }

    private static func key(final: UInt8, parameters: String) -> Key {
        let isWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            switch parameters {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return .delete
            default: return .text("")
            }
        default: return .text("")
        }
    }

    /// The text up to the mark that ends a paste.
    private mutating func pasted() -> String {
        let mark = Array("\u{1B}[201~".utf8)
        var text: [UInt8] = []
        while let next = byte() {
            text.append(next)
            if text.suffix(mark.count).elementsEqual(mark) {
                text.removeLast(mark.count)
                break
            }
        }
        let lines = String(decoding: text, as: UTF8.self).map { $0.isNewline ? "\n" : $0 == "\t" ? " " : $0 }
        return String(lines.filter { $0 == "\n" || ($0.unicodeScalars.first?.value ?? 0) >= 0x20 })
    }
}
