import HearthBytes
import Testing

@testable import AccountNotices

@Suite struct LanguageChoiceTests {
    private let available: Set<String> = ["en", "de", "pt", "pt-br"]

    @Test(arguments: [
        ("de", "de"), ("de-AT,de;q=0.9,en;q=0.5", "de"), ("pt_BR", "pt-br"), ("pt-PT", "pt"), ("en;q=0.2, de;q=0.8", "de"), ("nl, fr", "en"),
        ("de;q=0, en;q=0.1", "en"), ("", "en"), (",;,;q=1", "en"), ("DE", "de"), ("fr;q=1,en;q=0.5,de;q=0.5", "en"),
    ])
    func firstThatThereIs(accepted: String, expected: String) {
        #expect(LanguageChoice.first(of: accepted, in: available, otherwise: "en") == expected)
    }

    @Test func longHeaderIsIgnored() {
        #expect(LanguageChoice.first(of: String(repeating: "de,", count: 1000), in: available, otherwise: "en") == "en")
    }
}

@Suite struct NoticeTemplateTests {
    @Test func everyLanguageHasEveryKind() throws {
        for (language, templates) in NoticeTemplates.builtIn {
            for kind in Notice.Kind.allCases {
                let template = try #require(templates[kind], "\(language) \(kind)")
                #expect(template.text.contains(kind.place))
                #expect(template.text.contains("%LINK%") == (kind != .textMessage && kind != .signInAdded))
                #expect(template.subject.isEmpty == (kind == .textMessage))
                if kind == .changeEmail || kind == .recoverEmail { #expect(template.text.contains("%NEW_EMAIL%"), "\(language) \(kind)") }
            }
        }
        #expect(NoticeTemplates.builtIn.count == 6)
    }

    @Test func placesAreFilledOnce() {
        let values = ["A": "%B%", "B": "b"]
        #expect(NoticeTemplate.filled("100% of %A% and %B%, %C% %", values) == "100% of %B% and b, %C% %")
        #expect(NoticeTemplate.filled("%%A%%", values) == "%%B%%")
    }

    @Test func nothingIsLeftToFill() throws {
        let templates = try NoticeTemplates()
        for language in NoticeTemplates.builtIn.keys {
            for kind in Notice.Kind.allCases {
                let notice = Notice(kind, to: "ada@example.org", secret: "SECRET", newEmail: "new@example.org", languages: language)
                let isSecret = kind != .signInAdded
                let (filled, used) = templates.filled(notice, applicationName: "App")
                #expect(used == language)
                #expect(!filled.text.contains("%") && !filled.subject.contains("%"))
                #expect(filled.text.contains("SECRET") == isSecret)
            }
        }
    }

    @Test func unknownDefaultLanguageIsRefused() {
        #expect(throws: TemplateError.self) { _ = try NoticeTemplates(language: "xx") }
    }
}

@Suite struct MailMessageTests {
    private func message(subject: String = "Hello", fromName: String? = "Häuser", text: String = "a\nb") throws -> String {
        let message = MailMessage(
            from: try #require(MailAddress("no-reply@example.org")), fromName: fromName, replyTo: MailAddress("help@example.org"),
            to: try #require(MailAddress("ada@example.org")), subject: subject, text: text, language: "de\r\nX: y", id: "id",
            seconds: 1_700_000_000)
        return String(decoding: message.bytes, as: UTF8.self)
    }

    private func head(_ mail: String) -> [String] {
        var lines: [String] = []
        for line in mail.split(separator: "\r\n", omittingEmptySubsequences: false) {
            if line.isEmpty { break }
            if line.hasPrefix(" ") { lines[lines.count - 1] += line } else { lines.append(String(line)) }
        }
        return lines
    }

    @Test func hasTheHeaders() throws {
        let lines = head(try message())
        #expect(lines.first == "Date: Tue, 14 Nov 2023 22:13:20 +0000")
        #expect(lines.contains("From: =?utf-8?B?SMOkdXNlcg==?= <no-reply@example.org>"))
        #expect(lines.contains("To: <ada@example.org>"))
        #expect(lines.contains("Reply-To: <help@example.org>"))
        #expect(lines.contains("Subject: =?utf-8?B?SGVsbG8=?="))
        #expect(lines.contains("Content-Language: deXy"))
    }

    @Test(arguments: ["x\r\nBcc: eve@example.org", "x\n\nbody", "\u{0}\u{85}\u{2028}Bcc: eve@example.org", "=?utf-8?B?QQ==?=\r\nX: y"])
    func noValueAddsAHeader(value: String) throws {
        let plain = head(try message())
        let attacked = head(try message(subject: value, fromName: value))
        #expect(attacked.count == plain.count)
        #expect(attacked.map { $0.prefix { $0 != ":" } } == plain.map { $0.prefix { $0 != ":" } })
        #expect(attacked.allSatisfy { $0.utf8.allSatisfy { 0x20...0x7E ~= $0 } })
    }

    @Test func textIsEncoded() throws {
        let mail = try message(text: "Grüße\n.\n\n" + String(repeating: "x", count: 200))
        let body = try #require(mail.split(separator: "\r\n\r\n", maxSplits: 1).last)
        #expect(body.split(separator: "\r\n").allSatisfy { $0.count <= 76 })
        let letters = body.utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "=") }.map { letter in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        let bytes = try #require(Base64URL.bytes(String(decoding: letters, as: UTF8.self)))
        #expect(String(decoding: bytes, as: UTF8.self) == "Grüße\r\n.\r\n\r\n" + String(repeating: "x", count: 200) + "\r\n")
    }

    @Test func longSubjectIsFolded() {
        let words = MailMessage.encodedWords(String(repeating: "確", count: 60)).split(separator: "\r\n ")
        #expect(words.count == 4)
        #expect(words.allSatisfy { $0.count <= 75 })
    }

    @Test(arguments: [
        (0, "Thu, 1 Jan 1970 00:00:00 +0000"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 +0000"),
        (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 +0000"),
    ])
    func dates(seconds: Int64, expected: String) { #expect(MailMessage.date(seconds) == expected) }

    @Test(arguments: [
        "a@b\r\nRCPT TO:<eve@example.org>", "a@b>", "<a@b", "a b@c", "a@b@c", "@b",
        "a@", "", "\"a\"@b", "a@b,c@d", "a@b;c", "a\u{0}@b", "a\u{2028}@b",
        "a\u{85}@b", "a@b\u{7F}",
    ])
    func wrongAddressesAreRefused(text: String) { #expect(MailAddress(text) == nil) }

    @Test(arguments: ["ada+x@example.org", "ädä@exämple.org", "o'hara@example.org", "a@localhost"])
    func addresses(text: String) { #expect(MailAddress(text)?.text == text) }
}
