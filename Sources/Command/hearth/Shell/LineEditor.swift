import CLinux
import CommandClient
import Glibc

/// Reads lines from a terminal, with the usual editing keys of shells.
struct LineEditor {
    /// The result of reading.
    enum Line: Equatable {
        case text(String)
        /// Cancelled with Control-C.
        case cancelled
        case ended
    }

    let history: ShellHistory
    /// The completions of the word before the cursor.
    let complete: (String) -> [String]
    private var keyboard = Keyboard()
    private var line = EditedLine()
    private var position = 0
    /// The unfinished line while the history is browsed.
    private var draft = ""
    private var wasTab = false

    init(history: ShellHistory, complete: @escaping (String) -> [String]) {
        self.history = history
        self.complete = complete
    }

    /// Reads a line.
    mutating func read(prompt: String) -> Line {
        guard let saved = Self.enterRawMode() else { return .ended }
        defer { Self.leaveRawMode(saved) }
        line = EditedLine()
        position = history.entries.count
        wasTab = false
        while true {
            if !keyboard.hasMore { show(prompt) }
            let key = keyboard.next()
            if let result = handle(key, prompt) {
                line.moveToEnd()
                show(prompt)
                Self.put("\r\n")
                return result
            }
            wasTab = key == .tab
        }
    }

    // MARK: Keys

    private mutating func handle(_ key: Key, _ prompt: String) -> Line? {
        switch key {
        case .enter: return .text(line.text)
        case .ended: return .ended
        case .text(let text), .paste(let text): line.insert(text)
        case .backspace: line.removeBackward()
        case .delete: line.removeForward()
        case .left: line.moveLeft()
        case .right: line.moveRight()
        case .wordLeft: line.moveWordLeft()
        case .wordRight: line.moveWordRight()
        case .home: line.moveToStart()
        case .end: line.moveToEnd()
        case .up: recall(position - 1)
        case .down: recall(position + 1)
        case .tab: completeWord()
        case .escape: break
        case .control(let letter): return control(letter, prompt)
        }
        return nil
    }

    private mutating func control(_ letter: Character, _ prompt: String) -> Line? {
        switch letter {
        case "a": line.moveToStart()
        case "b": line.moveLeft()
        case "c": return .cancelled
        case "d":
            if line.characters.isEmpty { return .ended }
            line.removeForward()
        case "e": line.moveToEnd()
        case "f": line.moveRight()
        case "k": line.cutToEnd()
        case "l": Self.put("\u{1B}[H\u{1B}[2J")
        case "n": recall(position + 1)
        case "p": recall(position - 1)
        case "r": return search()
        case "u": line.cutToStart()
        case "w": line.cutWord()
        case "y": line.paste()
        default: break
        }
        return nil
    }

    private mutating func recall(_ index: Int) {
        guard index >= 0, index <= history.entries.count else { return }
        if position == history.entries.count { draft = line.text }
        position = index
        line = EditedLine(index == history.entries.count ? draft : history.entries[index])
    }

    /// Control-R: searches the history for the typed text, newest first.
    private mutating func search() -> Line? {
        var wanted = ""
        var found = history.entries.count
        let before = line
        while true {
            let shown = found < history.entries.count ? history.entries[found] : ""
            Self.put("\r\u{1B}[K(search) \(wanted): \(shown.map { $0.isNewline ? "↵" : String($0) }.joined())")
            let key = keyboard.next()
            switch key {
            case .text(let text), .paste(let text):
                wanted += text
                found = history.last(containing: wanted, before: history.entries.count) ?? history.entries.count
            case .backspace:
                wanted = String(wanted.dropLast())
                found = history.last(containing: wanted, before: history.entries.count) ?? history.entries.count
            case .control("r"): found = history.last(containing: wanted, before: found) ?? found
            case .control("c"), .control("g"), .escape:
                line = before
                return nil
            default:
                line = found < history.entries.count ? EditedLine(history.entries[found]) : before
                position = found
                return handle(key, "")
            }
        }
    }

    private mutating func completeWord() {
        let before = Array(line.textBeforeCursor)
        let start = before.lastIndex { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == ".") }.map { $0 + 1 } ?? 0
        // Only the first word is a function name.
        guard start == 0 else { return }
        let word = String(before[start...])
        let candidates = complete(word)
        guard let first = candidates.first else { return Self.put("\u{07}") }
        let common = candidates.dropFirst().reduce(first) { String(zip($0, $1).prefix { $0 == $1 }.map(\.0)) }
        if common.count > word.count || candidates.count == 1 {
            line.replace(from: start, with: common)
        } else if wasTab {
            Self.put("\r\n\(candidates.joined(separator: "  "))\r\n")
        }
    }

    // MARK: The terminal

    /// Redraws the line, or the part around the cursor that fits.
    private func show(_ prompt: String) {
        let width = max(10, Terminal.columns - prompt.count - 1)
        var start = 0
        while Self.width(line.characters[start..<line.cursor]) > width { start += 1 }
        var end = line.cursor
        while end < line.characters.count, Self.width(line.characters[start...end]) <= width { end += 1 }
        let shown = line.characters[start..<end].map { $0.isNewline ? "↵" : String($0) }.joined()
        let back = Self.width(line.characters[line.cursor..<end])
        Self.put("\r\u{1B}[K\(prompt)\(shown)\(back > 0 ? "\u{1B}[\(back)D" : "")")
    }

    /// The width of characters in columns.
    private static func width(_ characters: ArraySlice<Character>) -> Int {
        characters.reduce(0) { width, character in
            switch character.unicodeScalars.first?.value ?? 0 {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0x1F300...0x1FAFF:
                return width + 2
            default: return width + 1
            }
        }
    }

    /// - Returns: the previous mode of the terminal; nil if standard input is none.
    private static func enterRawMode() -> linux_terminal_mode? {
        var saved = linux_terminal_mode()
        guard linux_enter_raw_mode(STDIN_FILENO, &saved) == 0 else { return nil }
        put("\u{1B}[?2004h")
        return saved
    }

    private static func leaveRawMode(_ saved: linux_terminal_mode) {
        put("\u{1B}[?2004l")
        var saved = saved
        _ = linux_restore_terminal(STDIN_FILENO, &saved)
    }

    private static func put(_ text: String) { Terminal.put(text) }
}
