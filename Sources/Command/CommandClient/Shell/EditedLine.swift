/// A line under edit, with the cursor.
public struct EditedLine: Sendable, Equatable {
    /// The characters, including newlines of pasted text.
    public private(set) var characters: [Character]
    /// From 0 to the number of characters.
    public private(set) var cursor: Int
    /// The last text that was cut.
    private var cut: [Character] = []

    /// A line with the cursor at its end.
    public init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    /// The whole line.
    public var text: String { String(characters) }
    /// The text before the cursor.
    public var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Inserts text at the cursor.
    public mutating func insert(_ text: String) {
        characters.insert(contentsOf: text, at: cursor)
        cursor += text.count
    }

    /// Replaces the text from `start` to the cursor.
    public mutating func replace(from start: Int, with text: String) {
        characters.removeSubrange(start..<cursor)
        cursor = start
        insert(text)
    }

    // MARK: Moving

    /// By one character; stays at the beginning.
    public mutating func moveLeft() { cursor = max(0, cursor - 1) }
    /// By one character; stays at the end.
    public mutating func moveRight() { cursor = min(characters.count, cursor + 1) }
    /// Before the first character.
    public mutating func moveToStart() { cursor = 0 }
    /// Behind the last character.
    public mutating func moveToEnd() { cursor = characters.count }
    /// To the beginning of the word before the cursor.
    public mutating func moveWordLeft() { cursor = wordStart }
    /// To the end of the word behind the cursor.
    public mutating func moveWordRight() { cursor = wordEnd }

    // MARK: Removing

    /// Removes the character before the cursor.
    public mutating func removeBackward() {
        guard cursor > 0 else { return }
        cursor -= 1
        characters.remove(at: cursor)
    }

    /// Removes the character behind the cursor.
    public mutating func removeForward() {
        if cursor < characters.count { characters.remove(at: cursor) }
    }

    /// Cuts from the cursor to the end.
    public mutating func cutToEnd() { cut(cursor..<characters.count) }
    /// Cuts from the beginning to the cursor.
    public mutating func cutToStart() { cut(0..<cursor) }
    /// Cuts the word before the cursor.
    public mutating func cutWord() { cut(wordStart..<cursor) }
    /// Inserts the last text that was cut.
    public mutating func paste() { insert(String(cut)) }

    private mutating func cut(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        cut = Array(characters[range])
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    private var wordStart: Int {
        var start = cursor
        while start > 0, !Self.isWord(characters[start - 1]) { start -= 1 }
        while start > 0, Self.isWord(characters[start - 1]) { start -= 1 }
        return start
    }

    private var wordEnd: Int {
        var end = cursor
        while end < characters.count, !Self.isWord(characters[end]) { end += 1 }
        while end < characters.count, Self.isWord(characters[end]) { end += 1 }
        return end
    }

    private static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
}
