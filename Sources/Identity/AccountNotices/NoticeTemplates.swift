import Files

/// The text of a notice with places for values: `%APP_NAME%`, `%EMAIL%`, `%NEW_EMAIL%`, `%FACTOR%`, and `%LINK%` or `%CODE%`.
public struct NoticeTemplate: Sendable, Equatable {
    /// Empty for a text message.
    public var subject: String
    public var text: String

    /// A template.
    public init(subject: String, text: String) {
        self.subject = subject
        self.text = text
    }

    /// Replaces the places. A value that looks like a place stays as it is.
    static func filled(_ template: String, _ values: [String: String]) -> String {
        var made = ""
        var rest = template[...]
        while let start = rest.firstIndex(of: "%") {
            made += rest[..<start]
            let after = rest.index(after: start)
            if let end = rest[after...].firstIndex(of: "%"), let value = values[String(rest[after..<end])] {
                made += value
                rest = rest[rest.index(after: end)...]
            } else {
                made += "%"
                rest = rest[after...]
            }
        }
        return made + rest
    }
}

/// The reason why the templates of an operator cannot be used.
public struct TemplateError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
}

/// All templates, by language.
public struct NoticeTemplates: Sendable {
    private var byLanguage: [String: [Notice.Kind: NoticeTemplate]]
    private let fallback: String

    private static let fileBytesMax = 1 << 16
    private static let languagesMax = 200

    /// The built-in templates, and those of a folder, which replace them.
    ///
    /// - Parameters:
    ///   - folder: holds `LANGUAGE/KIND.txt`, where `KIND` is the raw value of a ``Notice/Kind``. The first line of a mail is its subject.
    ///     Blocks while it is read.
    ///   - language: for recipients whose language is unknown or missing.
    public init(folder: String? = nil, language: String = "en") throws(TemplateError) {
        byLanguage = Self.builtIn
        fallback = LanguageChoice.canonical(language)
        if let folder { try read(folder) }
        guard byLanguage[fallback] != nil else { throw TemplateError(description: "there are no templates in the language \(language)") }
    }

    private mutating func read(_ folder: String) throws(TemplateError) {
        let names = Folder.names(in: folder).sorted()
        guard names.count <= Self.languagesMax else { throw TemplateError(description: "\(folder) has more than \(Self.languagesMax) entries") }
        for name in names where !name.hasPrefix(".") {
            for kind in Notice.Kind.allCases {
                let path = "\(folder)/\(name)/\(kind.rawValue).txt"
                let found: [UInt8]?
                do throws(FileFailure) {
                    found = try WholeFile.readIfAny(path, sizeBytesMax: Self.fileBytesMax)
                } catch {
                    throw TemplateError(description: "\(path) \(error)")
                }
                guard let found else { continue }
                byLanguage[LanguageChoice.canonical(name), default: [:]][kind] = try Self.template(found, kind, path)
            }
        }
    }

    private static func template(_ bytes: [UInt8], _ kind: Notice.Kind, _ path: String) throws(TemplateError) -> NoticeTemplate {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw TemplateError(description: "\(path) is not UTF-8") }
        guard text.contains(kind.place) else { throw TemplateError(description: "\(path) does not contain \(kind.place)") }
        if kind == .textMessage { return NoticeTemplate(subject: "", text: trimmed(text[...])) }
        let lines = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0.isNewline }
        guard lines.count == 2, !trimmed(lines[0]).isEmpty, !trimmed(lines[1]).isEmpty else {
            throw TemplateError(description: "\(path) needs a subject in the first line and a text below it")
        }
        return NoticeTemplate(subject: trimmed(lines[0]), text: trimmed(lines[1]))
    }

    private static func trimmed(_ text: Substring) -> String {
        let begun = text.drop { $0.isWhitespace }
        return String(begun.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// Subject and text of a notice, and their language.
    func filled(_ notice: Notice, applicationName: String) -> (template: NoticeTemplate, language: String) {
        let available = Set(byLanguage.filter { $0.value[notice.kind] != nil }.keys)
        let language = LanguageChoice.first(of: notice.languages, in: available, otherwise: fallback)
        let template = byLanguage[language]?[notice.kind] ?? Self.lastResort(notice.kind)
        var values = ["APP_NAME": applicationName, "EMAIL": notice.recipient, "NEW_EMAIL": notice.newEmail ?? "", "FACTOR": notice.factor ?? ""]
        values[notice.kind == .textMessage ? "CODE" : "LINK"] = notice.secret
        let made = NoticeTemplate(
            subject: NoticeTemplate.filled(template.subject, values), text: NoticeTemplate.filled(template.text, values))
        return (made, language)
    }
}
