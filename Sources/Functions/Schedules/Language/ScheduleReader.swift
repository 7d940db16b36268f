/// Cuts a schedule into words and commas.
struct ScheduleReader {
    struct Word: Equatable {
        /// In lower case.
        var text: String
        /// From 1.
        var column: Int
    }

    let words: [Word]
    var index = 0
    private let endColumn: Int
    /// The parts between spaces, for cron.
    let fields: [Word]

    init(_ text: String) throws(ScheduleError) {
        var (words, fields): ([Word], [Word]) = ([], [])
        var (word, field) = (Word(text: "", column: 1), Word(text: "", column: 1))
        var column = 0
        for scalar in text.unicodeScalars {
            column += 1
            guard scalar == "\t" || (" "..."~").contains(scalar) else {
                throw ScheduleError(column: column, expected: "printable characters of ASCII", found: "\\u{\(String(scalar.value, radix: 16))}")
            }
            let isSpace = scalar == " " || scalar == "\t"
            if isSpace || scalar == "," {
                if !word.text.isEmpty { words.append(word) }
                if !isSpace { words.append(Word(text: ",", column: column)) }
                word = Word(text: "", column: column + 1)
            } else {
                word.text.unicodeScalars.append(scalar)
            }
            if isSpace {
                if !field.text.isEmpty { fields.append(field) }
                field = Word(text: "", column: column + 1)
            } else {
                field.text.unicodeScalars.append(scalar)
            }
        }
        if !word.text.isEmpty { words.append(word) }
        if !field.text.isEmpty { fields.append(field) }
        self.words = words.map { Word(text: $0.text.lowercased(), column: $0.column) }
        self.fields = fields.map { Word(text: $0.text.lowercased(), column: $0.column) }
        endColumn = column + 1
    }

    /// Whether the text is of App Engine's syntax: it begins with a word or with a number such as `1st`, or has the word `of`.
    var looksLikeEnglish: Bool {
        guard let first = words.first?.text.utf8, let letter = first.first else { return true }
        return letter.isLetter || letter.isDigit && first.last?.isLetter == true || words.contains { $0.text == "of" }
    }

    // MARK: Words

    var next: Word? { index < words.count ? words[index] : nil }

    mutating func take() -> Word? {
        defer { index += 1 }
        return next
    }

    /// Takes the next word if it is one of these.
    mutating func take(_ texts: String...) -> Bool {
        guard let next, texts.contains(next.text) else { return false }
        index += 1
        return true
    }

    /// The error for the next word.
    func unexpected(_ expected: String) -> ScheduleError { ScheduleError(column: next?.column ?? endColumn, expected: expected, found: next?.text) }

    /// The error for a field of cron that is missing.
    func missing(_ expected: String) -> ScheduleError { ScheduleError(column: endColumn, expected: expected, found: nil) }

    static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// 0 for Sunday to 6, for a name with at least three letters.
    static func weekday(_ text: String) -> Int? {
        position(of: text, in: ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"])
    }

    /// 1 to 12, for a name with at least three letters.
    static func month(_ text: String) -> Int? {
        let names = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
        ]
        return position(of: text, in: names).map { $0 + 1 }
    }

    private static func position(of text: String, in names: [String]) -> Int? {
        text.utf8.count < 3 ? nil : names.firstIndex { $0.hasPrefix(text) }
    }
}
