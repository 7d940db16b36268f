/// Rows of words for people: columns stand below each other.
enum TextTable {
    /// One line a row; the first row is the heading.
    ///
    /// - Parameter paint: gives a word its colour, which takes no room.
    static func lines(
        _ rows: [[String]], indent: String = "", paint: (_ word: String, _ column: Int) -> String = { word, _ in word }
    ) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = indent
            for (column, word) in row.enumerated() {
                line += paint(word, column)
                // Nothing follows that would have to stand somewhere.
                if row[(column + 1)...].contains(where: { !$0.isEmpty }) {
                    line += String(repeating: " ", count: widths[column] - word.count + 2)
                }
            }
            return line
        }
    }
}
