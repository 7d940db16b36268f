import Deployment
import Host

/// What `hearth serve --watch` writes to whoever sits before it.
enum WatchLines {
    static func show(_ report: WatchReport) {
        switch report.kind {
        case .progress:
            if Terminal.showsProgress { Terminal.showProgress(String(report.sentence.prefix(max(20, Terminal.columns - 1)))) }
        case .failure:
            Terminal.endProgress()
            Terminal.writeError(text(report, isColoured: Terminal.hasColour))
        case .success, .notice:
            Terminal.endProgress()
            Terminal.write(text(report, isColoured: Terminal.hasColour))
        }
    }

    /// The compiler's words, then the sentence.
    static func text(_ report: WatchReport, isColoured: Bool) -> String {
        var diagnostics = report.diagnostics
        while diagnostics.hasSuffix("\n") { diagnostics.removeLast() }
        guard isColoured else { return diagnostics.isEmpty ? report.sentence : "\(diagnostics)\n\(report.sentence)" }
        let colour =
            switch report.kind {
            case .success: "32"
            case .failure: "1;31"
            case .notice, .progress: "36"
            }
        let sentence = "\u{1B}[\(colour)m\(report.sentence)\u{1B}[0m"
        return diagnostics.isEmpty ? sentence : "\(coloured(diagnostics))\n\(sentence)"
    }

    /// The same text; only the words that say how bad it is are coloured.
    private static func coloured(_ diagnostics: String) -> String {
        let words = [(" error: ", "1;31"), (" warning: ", "1;33"), (" note: ", "1;36")]
        return diagnostics.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            for (word, colour) in words {
                guard let range = line.firstRange(of: word) else { continue }
                return "\(line[..<range.lowerBound]) \u{1B}[\(colour)m\(word.dropFirst().dropLast())\u{1B}[0m \(line[range.upperBound...])"
            }
            return String(line)
        }.joined(separator: "\n")
    }
}
