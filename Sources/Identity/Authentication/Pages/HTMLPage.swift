import Crypto
import HearthBytes

/// A page with one style and at most one script, and the policy that admits only these.
struct HTMLPage {
    let text: String
    private let scriptHash: String?
    private static let style = """
        body { font: 16px/1.5 sans-serif; max-width: 30rem; margin: 2rem auto; padding: 0 1rem; }
        ul { list-style: none; padding: 0; }
        button, input { font: inherit; padding: 0.5rem; }
        #requirements { list-style: disc; padding: 0 0 0 1.5rem; }
        [role=alert] { border-left: 0.25rem solid #b3261e; padding-left: 0.75rem; }
        li button, input { width: 100%; box-sizing: border-box; text-align: left; margin: 0 0 0.5rem; }
        """

    /// - Parameters:
    ///   - title: in HTML.
    ///   - script: nil for a page that works without any.
    ///   - body: in HTML.
    init(title: String, language: String = "en", script: String? = nil, body: String) {
        scriptHash = script.map { Self.hash($0) }
        text = """
            <!DOCTYPE html>
            <html lang="\(language)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            \(body)
            \(script.map { "<script>\($0)</script>" } ?? "")
            </body>
            </html>

            """
    }

    /// The `Content-Security-Policy`.
    ///
    /// - Parameters:
    ///   - ancestors: the pages that may contain this one.
    ///   - scripts: further sources of scripts.
    ///   - forms: where forms may be sent.
    func policy(ancestors: String, scripts: String = "", forms: String = "'none'") -> String {
        var parts = ["default-src 'none'", "style-src '\(Self.hash(Self.style))'"]
        if let scriptHash { parts += ["script-src '\(scriptHash)'\(scripts.isEmpty ? "" : " \(scripts)")", "connect-src 'self'"] }
        parts += ["form-action \(forms)", "base-uri 'none'", "frame-ancestors \(ancestors)"]
        return parts.joined(separator: "; ")
    }

    private static func hash(_ text: String) -> String { "sha256-\(Base64.text(Array(SHA256.hash(data: Array(text.utf8)))))" }

    /// A text in a form that is safe in HTML and in attributes.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "`": result += "&#96;"
            case "\0": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
