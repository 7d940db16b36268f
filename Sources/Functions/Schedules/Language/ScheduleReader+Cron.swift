/// The five fields of unix-cron: minute, hour, day of the month, month, day of the week.
extension ScheduleReader {
    /// One of the fields.
    private struct Field {
        var noun: String
        var range: ClosedRange<Int>
        var names: [String] = []
        /// The number of the first name.
        var firstName = 0

        var expected: String {
            let named = names.isEmpty ? "" : " or \(names[0])-\(names[names.count - 1])"
            return "\(noun) from \(range.lowerBound) to \(range.upperBound)\(named)"
        }
    }

    private static let fields = [
        Field(noun: "a minute", range: 0...59), Field(noun: "an hour", range: 0...23), Field(noun: "a day of the month", range: 1...31),
        Field(noun: "a month", range: 1...12, names: months, firstName: 1), Field(noun: "a day of the week", range: 0...7, names: weekdays),
    ]

    func cron() throws(ScheduleError) -> Schedule.Kind {
        var masks: [UInt64] = []
        for (index, field) in Self.fields.enumerated() {
            guard index < fields.count else {
                throw missing("\(field.noun): five fields, minute, hour, day of the month, month and day of the week")
            }
            masks.append(try mask(fields[index], field))
        }
        if fields.count > Self.fields.count {
            let extra = fields[Self.fields.count]
            throw ScheduleError(column: extra.column, expected: "the end after five fields", found: extra.text)
        }
        // Sunday is 0 and 7.
        let ofWeek = UInt8(truncatingIfNeeded: (masks[4] | masks[4] >> 7) & 0x7F)
        let ofMonth = UInt32(truncatingIfNeeded: masks[2])
        // As in every cron: two restricted fields mean either. A field that begins with a star restricts nothing.
        let isEither = !fields[2].text.hasPrefix("*") && !fields[4].text.hasPrefix("*")
        let rule: ScheduleDays.Rule =
            if isEither {
                .either(ofMonth: ofMonth, ofWeek: ofWeek)
            } else if fields[2].text == "*", fields[4].text == "*" {
                .all
            } else {
                .both(ofMonth: ofMonth, ofWeek: ofWeek)
            }
        let days = ScheduleDays(months: UInt16(truncatingIfNeeded: masks[3]), rule: rule)
        return .calendar(days, .fields(hours: UInt32(truncatingIfNeeded: masks[1]), minutes: masks[0]))
    }

    /// A bit for each number of a field.
    private func mask(_ word: Word, _ field: Field) throws(ScheduleError) -> UInt64 {
        var bits: UInt64 = 0
        var column = word.column
        for part in word.text.split(separator: ",", omittingEmptySubsequences: false) {
            bits |= try mask(of: Word(text: String(part), column: column), field)
            column += part.count + 1
        }
        return bits
    }

    /// A star, a number or a range, perhaps with a step.
    private func mask(of part: Word, _ field: Field) throws(ScheduleError) -> UInt64 {
        let halves = part.text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let range: ClosedRange<Int>
        let isRange: Bool
        if halves[0] == "*" {
            (range, isRange) = (field.range, true)
        } else {
            let ends = halves[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            let first = try number(ends[0], part.column, field)
            let last = ends.count == 2 ? try number(ends[1], part.column + ends[0].count + 1, field, isEnd: true) : first
            guard first <= last else {
                throw ScheduleError(column: part.column, expected: "a range that ends after its start", found: String(halves[0]))
            }
            (range, isRange) = (first...last, ends.count == 2)
        }
        var step = 1
        if halves.count == 2 {
            let column = part.column + halves[0].count + 1
            guard isRange else {
                let wanted = "\(halves[0])-\(field.range.upperBound)/\(halves[1])"
                throw ScheduleError(column: column - 1, expected: "a range before the step, as in \(wanted)", found: "/\(halves[1])")
            }
            guard let number = Self.number(halves[1]), number > 0, number <= field.range.upperBound else {
                throw ScheduleError(column: column, expected: "a step from 1 to \(field.range.upperBound)", found: Self.shown(halves[1]))
            }
            step = number
        }
        // Day 7 is there for lists and ranges; a star means each day once.
        let upper = halves[0] == "*" && field.range.upperBound == 7 ? 6 : range.upperBound
        return stride(from: range.lowerBound, through: upper, by: step).reduce(0) { $0 | 1 << UInt64($1) }
    }

    private func number(_ text: Substring, _ column: Int, _ field: Field, isEnd: Bool = false) throws(ScheduleError) -> Int {
        if let number = Self.number(text), field.range.contains(number) { return number }
        if let position = field.names.firstIndex(of: String(text)) {
            // `fri-sun` ends with the Sunday after it.
            return isEnd && position == 0 && field.range.upperBound == 7 ? 7 : position + field.firstName
        }
        throw ScheduleError(column: column, expected: field.expected, found: Self.shown(text))
    }

    /// The end of a field is no text of its own.
    private static func shown(_ text: Substring) -> String? { text.isEmpty ? nil : String(text) }

    static func number(_ text: some StringProtocol) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }
}
