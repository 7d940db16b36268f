import HearthBytes

/// A mail (RFC 5322) with one text in UTF-8.
struct MailMessage {
    var from: MailAddress
    var fromName: String?
    var replyTo: MailAddress?
    var to: MailAddress
    var subject: String
    var text: String
    var language: String
    /// A unique letters-and-digits id.
    var id: String
    /// Seconds since 1970.
    var seconds: Int64

    /// The mail as it is sent. Every header line is ASCII (except for addresses that are not) and every value is encoded or checked, so that no
    /// value can add a header or end the head.
    var bytes: [UInt8] {
        var lines = ["Date: \(Self.date(seconds))"]
        lines.append("From: \(fromName.map { "\(Self.encodedWords($0)) " } ?? "")<\(from.text)>")
        if let replyTo { lines.append("Reply-To: <\(replyTo.text)>") }
        lines.append("To: <\(to.text)>")
        lines.append("Message-ID: <\(id)@\(from.domain)>")
        lines.append("Subject: \(Self.encodedWords(subject))")
        // Servers answer such mails with no "out of office" (RFC 3834).
        lines.append("Auto-Submitted: auto-generated")
        lines.append("MIME-Version: 1.0")
        lines.append("Content-Type: text/plain; charset=utf-8")
        lines.append("Content-Language: \(language.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })")
        lines.append("Content-Transfer-Encoding: base64")
        lines.append("")
        let canonical = text.split(omittingEmptySubsequences: false) { $0.isNewline }.joined(separator: "\r\n") + "\r\n"
        let letters = Array(Base64.text(Array(canonical.utf8)).utf8)
        for start in stride(from: 0, to: letters.count, by: 76) {
            lines.append(String(decoding: letters[start..<min(start + 76, letters.count)], as: UTF8.self))
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }

    /// A text as encoded words (RFC 2047), folded; without control characters.
    static func encodedWords(_ text: String) -> String {
        let clean = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        var words: [String] = []
        var bytes: [UInt8] = []
        for character in clean.unicodeScalars {
            let added = Array(String(character).utf8)
            // A word has at most 75 letters: 12 around it, and 4 for each 3 bytes.
            if bytes.count + added.count > 45 {
                words.append("=?utf-8?B?\(Base64.text(bytes))?=")
                bytes = []
            }
            bytes += added
        }
        words.append("=?utf-8?B?\(Base64.text(bytes))?=")
        return words.prefix(20).joined(separator: "\r\n ")
    }

    /// The date as in RFC 5322 section 3.3, in UTC.
    static func date(_ seconds: Int64) -> String {
        let days = seconds / 86_400
        let rest = seconds % 86_400
        // Days from 0000-03-01, in eras of 400 years.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let dayNames = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        return "\(dayNames[Int(days % 7)]), \(day) \(monthNames[Int(month - 1)]) \(year) \(clock) +0000"
    }
}

/// An address that can stand in an SMTP command and in a header.
public struct MailAddress: Sendable, Equatable {
    public let text: String

    var domain: String { text.split(separator: "@").last.map(String.init) ?? "" }

    /// An address; nil if it holds a letter that would need quotes, or that could end a command or header.
    public init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard text.utf8.count <= 254, parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        let forbidden = Array("<>()[]\\,;:\"".utf8)
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !forbidden.contains($0) }) else { return nil }
        // Controls and separators beyond ASCII.
        guard text.unicodeScalars.allSatisfy({ !(0x80...0xA0 ~= $0.value) && !(0x2000...0x200F ~= $0.value) && !(0x2028...0x202F ~= $0.value) })
        else { return nil }
        self.text = text
    }
}
